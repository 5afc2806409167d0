// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Failed ranks and revoked communicators known to this process. The launcher publishes fault notifications in
// the node segment; only waiting ranks poll them, sends do not.
#pragma once

#include "base/err.hpp"
#include "proto/p2p/operation.hpp"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace zipmpi::proto {

struct FaultTable {
    bool any = false;
    uint32_t generation = 0;              // of the notifications processed last
    uint32_t failed_seen = 0;             // entries of the segment's list of failed ranks already processed
    uint32_t revoked_seen = 0;            // entries of its list of revoked contexts already processed
    std::unordered_set<int> failed_ranks; // ranks in MPI_COMM_WORLD, and external ranks
    // By comm_key(): Err::revoked, or the error of its collectives, which can no longer complete.
    std::unordered_map<uint32_t, Err> comm_errors;
    // comm_key() of communicators whose receives from any source may wait for a failed rank.
    std::unordered_set<uint32_t> unacknowledged;
    void (*on_fault)() = nullptr;     // fills in comm_errors and unacknowledged
    int (*on_agreements)() = nullptr; // processes agreements published by the launcher; returns their number

    static uint32_t comm_key(uint32_t context) { return context & ~1U & ~partitioned_context; }
};

} // namespace zipmpi::proto
