// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which CPUs a rank may use: a pure function of the machine's cores and the job.
#pragma once

#include "base/problem.hpp"
#include "launch/map/units.hpp"

namespace zipmpi::launch {

struct PlacementRequest {
    uint32_t ranks = 1;
    uint32_t threads = 0;      // of each rank (OMP_NUM_THREADS); 0: not said
    uint32_t usable_cores = 1; // cores that the job may load: allowed CPUs, capped by the quota
    PlacementPolicy policy;
    std::vector<std::string> slots; // of each rank, from a rank file; empty: none
};

struct Seat {     // of one rank
    CpuList cpus; // where it may run; empty: left to the kernel
    CpuList own;  // the part of them that no other job is given; the rest is lent
};

struct Placement {
    std::vector<Seat> seats;
    std::string why; // in words, the same for all ranks
};

// Cores that a rank must have, and whether it was said so.
uint32_t cores_each(const PlacementRequest& request);
// The user wants binding, whether ranks fit or not.
bool insists(const PlacementPolicy& policy);
// Is there anything to bind, so that the topology is worth looking at?
bool wants_binding(const PlacementRequest& request);

// Without a wish each rank gets its share of the cores. More ranks than cores: they are left to the kernel,
// or with a wish share cores in turn. False: the policy cannot be met on this host.
bool place(const PlacementRequest& request, const HostCores& cores, Placement& out, Problem& why);

// The order of `seats` that rank_by asks for: small units one after the other, large ones in turn.
CoreNumbers ranking(const std::vector<topo::Place>& places, Unit rank_by);

} // namespace zipmpi::launch
