// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which CPUs a rank may use: a pure function of the machine's cores and the job.
#pragma once

#include <cstdint>
#include <vector>

namespace zipmpi::launch {

using CpuList = std::vector<int>; // numbers of hardware threads, as the kernel counts them

enum class BindMode { automatic, core, none, socket };

struct PlacementRequest {
    uint32_t ranks = 1;
    uint32_t cores_per_rank = 1; // more than one for ranks that run threads of their own (OMP_NUM_THREADS)
    uint32_t usable_cores = 1;   // cores that the job may load: allowed CPUs, capped by the quota
    BindMode mode = BindMode::automatic;
};

// Is there anything to bind, so that the topology is worth looking at?
bool wants_binding(const PlacementRequest& request);

// cores: the hardware threads of each allowed core, neighbours next to each other. The result has one list
// per rank; an empty list means: leave it to the kernel. With more ranks than cores and mode core, ranks
// share cores in turn.
std::vector<CpuList> place(const PlacementRequest& request, const std::vector<CpuList>& cores);

// The order of cores for ranks that go to the sockets in turn: the first core of each, then the second, ...
void take_sockets_in_turn(std::vector<CpuList>& cores, std::vector<uint16_t>& sockets);

// Gives each rank all CPUs of the sockets that it has cores of.
void widen_to_sockets(std::vector<CpuList>& placed, const std::vector<CpuList>& cores,
                      const std::vector<uint16_t>& sockets);

} // namespace zipmpi::launch
