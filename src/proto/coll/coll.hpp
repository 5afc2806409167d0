// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collective operations on bytes. Correct and simple: trees and rings of point-to-point messages, one
// algorithm per file. block = bytes that one rank contributes or gets. Buffers may not overlap; in place is
// resolved by the caller.
//
// Cost, with p ranks, latency a per message and b per byte, is at the head of each file.
#pragma once

#include "base/err.hpp"
#include "proto/team.hpp"

#include <cstddef>
#include <cstdint>

namespace zipmpi::proto::coll {

// inout[i] = in[i] op inout[i], for a commutative operation.
struct Combine {
    void (*apply)(const void* in, void* inout, int64_t count) = nullptr;
    int64_t count = 0;
    size_t element_bytes = 0;
    [[nodiscard]] size_t bytes() const { return static_cast<size_t>(count) * element_bytes; }
};

Err barrier(Team& team);
Err broadcast(Team& team, void* data, size_t bytes, int root);
// data: own contribution in, result out at the root (elsewhere scratch afterwards).
Err reduce(Team& team, void* data, const Combine& combine, int root);
// data: own contribution in, result out everywhere, bitwise the same.
Err allreduce(Team& team, void* data, const Combine& combine);
Err gather(Team& team, const void* mine, void* all, size_t block, int root);  // root's own block is in place
Err scatter(Team& team, const void* all, void* mine, size_t block, int root); // likewise
Err allgather(Team& team, void* all, size_t block);                           // own block is in place
Err alltoall(Team& team, const void* send, void* recv, size_t block);

} // namespace zipmpi::proto::coll
