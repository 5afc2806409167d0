// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Keys of a job as the network uses them. They stay where they are stored: in the node segment, which core
// dumps do not contain. base/key_schedule.hpp derives them.
#pragma once

#include "wire/net_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace zipmpi::transport::auth {

using Key = std::span<const uint8_t, wire::key_bytes>;

// Keys that authenticate handshakes: two ranks use a key that no gateway has.
struct HandshakeKeys {
    Key peer; // a gateway does not have it, and repeats `hop` here
    Key hop;
    int first_gateway = INT32_MAX; // ids of gateways begin here
    [[nodiscard]] Key between(int a, int b) const { return std::max(a, b) >= first_gateway ? hop : peer; }
};

} // namespace zipmpi::transport::auth
