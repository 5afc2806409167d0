// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a lane knows of ranks that are gone and of communicators that must not be used any more. The launcher
// leaves the news in the node segment; they are looked at by who waits, never by who sends.
#pragma once

#include "base/err.hpp"
#include "proto/p2p/operation.hpp"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace zipmpi::proto {

struct Faults {
    bool any = false;
    uint32_t number = 0; // of the news that were taken
    uint32_t failed = 0; // entries of the segment's lists that were taken
    uint32_t revoked = 0;
    std::unordered_set<int> gone; // ranks in MPI_COMM_WORLD
    // By the context of point-to-point messages: revoked, or its collectives cannot end any more.
    std::unordered_map<uint32_t, Err> broken;
    // Communicators on which a receive from anybody may wait for somebody who is gone.
    std::unordered_set<uint32_t> unacknowledged;
    void (*on_news)() = nullptr;     // fills in the two above
    int (*on_decisions)() = nullptr; // the launcher may have left some; how many there were

    static uint32_t key_of(uint32_t context) { return context & ~1U & ~partitioned_context; }
};

} // namespace zipmpi::proto
