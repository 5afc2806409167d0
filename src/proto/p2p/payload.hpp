// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Copies bytes of a message from or to the buffer of an operation, at any offset, packed or unpacked through
// its layout.
#pragma once

#include "base/short_copy.hpp"
#include "packing/layout.hpp"
#include "proto/p2p/operation.hpp"

#include <cstring>

namespace zipmpi::proto {

inline void load_payload(const MessageArgs& op, uint64_t from, std::byte* to, uint64_t bytes) {
    if (op.layout != nullptr)
        packing::pack(*op.layout, op.buffer, op.elements, op.first_byte + from, to, bytes);
    else if (bytes != 0)
        std::memcpy(to, op.buffer + from, bytes);
}

inline void store_payload(const MessageArgs& op, uint64_t at, const std::byte* from, uint64_t bytes) {
    if (op.layout != nullptr)
        packing::unpack(*op.layout, op.buffer, op.elements, op.first_byte + at, from, bytes);
    else if (bytes <= wire::inline_max)
        copy_short(op.buffer + at, from, bytes);
    else
        std::memcpy(op.buffer + at, from, bytes);
}

// Copies between two operations of this process.
void copy_payload(const MessageArgs& from, const MessageArgs& to, uint64_t bytes);

} // namespace zipmpi::proto
