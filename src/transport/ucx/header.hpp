// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The one place where the header of a message from another host is read.
#pragma once

#include "wire/net_layout.hpp"

#include <cstddef>
#include <cstring>
#include <span>

namespace zipmpi::transport::ucx {

// False: these bytes are no header. The pass is for the caller to check.
inline bool read_header(std::span<const std::byte> bytes, wire::NetHeader& h,
                        std::span<const std::byte>& payload) {
    if (bytes.size() < sizeof h) return false;
    std::memcpy(&h, bytes.data(), sizeof h);
    payload = bytes.subspan(sizeof h);
    h.envelope.flags &= wire::flag_synchronous; // others are between ranks of one node
    return payload.size() == h.envelope.inline_bytes && payload.size() <= wire::inline_max;
}

} // namespace zipmpi::transport::ucx
