// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What sends and receives with other hosts have in common.
#pragma once

#include "proto/p2p/operation.hpp"
#include "transport/network.hpp"

namespace zipmpi::proto {

// The buffer of an operation for the network.
inline transport::BufferRef buffer_of(Operation& op, uint64_t bytes) {
    return {op.layout == nullptr ? op.buffer : nullptr, bytes, &op};
}

// The error of an operation whose peer cannot be reached.
[[gnu::cold]] Err unreachable_error(const Operation& op);

} // namespace zipmpi::proto
