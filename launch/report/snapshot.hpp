// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the flight recorders of all ranks say at one moment, taken out of the shared memory and with names
// instead of numbers: the input of the hang report.
#pragma once

#include "base/recorder_layout.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::launch {

enum class Life : uint32_t { no_mpi, running, finalized, gone }; // no_mpi: the process has not entered MPI

struct WaitPlace {
    WaitKind kind = WaitKind::none;
    int32_t world_peer = recorder_none; // or recorder_any
    int32_t tag = recorder_none;        // or recorder_any
    std::string comm;
    uint32_t sequence = 0; // collectives: the how-manieth on this communicator
    uint64_t bytes = 0;
};

// A message that lies unreceived beside a receive that waits: the right sender, another tag or communicator.
struct StrayMessage {
    int32_t world_source = recorder_none; // none: there is no such message
    int32_t tag = recorder_none;
    std::string comm;
};

struct RankPlace {
    int32_t rank = 0;
    Life life = Life::running;
    std::string end;      // gone: "killed by SIGSEGV", "exited with status 3"
    bool asleep = false;  // blocked; then waits are valid
    std::string function; // the call it is in; empty = in the program's own code
    int32_t peer = recorder_none;
    int32_t tag = recorder_none;
    std::string comm;
    uint64_t call_count = 0;
    uint32_t progress = 0;
    uint32_t wait_count = 0; // pending operations in all
    std::vector<WaitPlace> waits;
    StrayMessage stray; // beside the first receive of waits
};

using Snapshot = std::vector<RankPlace>;

// Asleep inside a call of MPI, not only beside one.
inline bool waits_in_mpi(const RankPlace& p) {
    return p.life == Life::running && p.asleep && !p.function.empty();
}

} // namespace zipmpi::launch
