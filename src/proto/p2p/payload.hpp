// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The bytes of an operation, wherever they lie: from its buffer and into it, at any place of the message.
#pragma once

#include "layout/program.hpp"
#include "proto/p2p/operation.hpp"

#include <cstring>

namespace zipmpi::proto {

inline void load_payload(const Operation& op, uint64_t from, std::byte* to, uint64_t bytes) {
    if (op.layout != nullptr)
        layout::pack(*op.layout, op.buffer, op.elements, op.first_byte + from, to, bytes);
    else if (bytes != 0)
        std::memcpy(to, op.buffer + from, bytes);
}

inline void store_payload(const Operation& op, uint64_t at, const std::byte* from, uint64_t bytes) {
    if (op.layout != nullptr)
        layout::unpack(*op.layout, op.buffer, op.elements, op.first_byte + at, from, bytes);
    else if (bytes != 0)
        std::memcpy(op.buffer + at, from, bytes);
}

// Between two operations of this process.
void copy_payload(const Operation& from, const Operation& to, uint64_t bytes);

} // namespace zipmpi::proto
