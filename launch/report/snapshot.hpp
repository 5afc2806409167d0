// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The state of all ranks at one moment, read from the flight recorders, with names instead of numbers: the
// input of the hang report.
#pragma once

#include "base/recorder_layout.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::launch {

enum class RankPhase : uint32_t { no_mpi, running, finalized, exited }; // no_mpi: MPI_Init not called yet

struct PendingOp {
    WaitKind kind = WaitKind::none;
    int32_t world_peer = recorder_none; // or recorder_any
    int32_t tag = recorder_none;        // or recorder_any
    std::string comm;
    uint32_t sequence = 0; // 1-based index of the collective on its communicator
    uint64_t bytes = 0;
};

// Unexpected message that almost matches a pending receive: the right sender, but another tag or
// communicator.
struct NearMiss {
    int32_t world_source = recorder_none; // recorder_none: no such message
    int32_t tag = recorder_none;
    std::string comm;
};

struct RankSnapshot {
    int32_t rank = 0;
    RankPhase phase = RankPhase::running;
    std::string exit_reason; // of an exited rank: "killed by SIGSEGV", "exited with status 3"
    bool asleep = false;     // blocked; only then `waits` is valid
    std::string function;    // current MPI call; empty: in user code
    int32_t peer = recorder_none;
    int32_t tag = recorder_none;
    std::string comm;
    uint64_t call_count = 0;
    uint32_t progress = 0;
    uint32_t wait_count = 0; // total number of pending operations
    std::vector<PendingOp> waits;
    NearMiss near_miss; // for the first receive of `waits`
};

using Snapshot = std::vector<RankSnapshot>;

// Asleep inside an MPI call, not outside MPI.
inline bool is_blocked_in_mpi(const RankSnapshot& p) {
    return p.phase == RankPhase::running && p.asleep && !p.function.empty();
}

} // namespace zipmpi::launch
