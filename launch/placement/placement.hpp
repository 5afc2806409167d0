// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// CPUs that a rank may use: a pure function of the machine's cores and the job.
#pragma once

#include "base/diagnostic.hpp"
#include "launch/placement/hardware_units.hpp"

namespace zipmpi::launch {

struct PlacementRequest {
    uint32_t ranks = 1;
    uint32_t threads = 0;      // of each rank (OMP_NUM_THREADS); 0: not given
    uint32_t usable_cores = 1; // cores that the job may load: allowed CPUs, limited by the CPU quota
    PlacementPolicy policy;
    std::vector<std::string> slots; // of each rank, from a rank file; empty: none
};

struct RankCpus { // of one rank
    CpuList cpus; // where it may run; empty: unbound
    CpuList own;  // CPUs of `cpus` reserved for this job; the rest is lent
};

struct Placement {
    std::vector<RankCpus> rank_cpus;
    std::string reason; // as text, for all ranks
};

// Cores per rank: as requested, otherwise one per thread.
uint32_t cores_for_rank(const PlacementRequest& request);
// The user has requested binding, whether or not the ranks fit.
bool requires_binding(const PlacementPolicy& policy);
// True if ranks may be bound, so that the topology must be read.
bool should_bind(const PlacementRequest& request);

// Without a request each rank gets its share of the cores. If there are more ranks than cores, they stay
// unbound, or with a request share cores round robin. Returns false if the policy cannot be satisfied on this
// host.
bool assign_cpus(const PlacementRequest& request, const HostCores& cores, Placement& out, Diagnostic& why);

// Indices of `localities` in the order of rank_by: small units consecutively, large ones round robin.
CoreIndices rank_order(const std::vector<hwtopo::Locality>& localities, Unit rank_by);

} // namespace zipmpi::launch
