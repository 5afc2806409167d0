// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The greetings by which two ranks get to know each other: made, and read. Nothing of a greeting is used
// before its proof is checked; we look at nothing else of a peer before its greeting. (UCX does: its TCP
// transport reads the headers of whoever connects.) Pure functions.
#pragma once

#include "wire/net_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace zipmpi::transport::ucx {

using Key = std::span<const uint8_t, wire::job_key_bytes>;

// Fills magic and proof and gives the bytes to be sent. address: of the sender, in a hello.
std::string seal(wire::Greeting greeting, std::string_view address, Key key);

struct Opened {
    wire::Greeting greeting{};
    std::string_view address; // within the bytes that were read
};

// False: these bytes are no greeting of this kind to this rank, or of somebody without the key.
bool unseal(std::span<const std::byte> bytes, uint16_t kind, int own_rank, Key key, Opened& out);

} // namespace zipmpi::transport::ucx
