// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Text of --show-placement: one host with its sockets, cores and the ranks on them. A pure function.
#pragma once

#include "launch/placement/hardware_units.hpp"

#include <string>

namespace zipmpi::launch {

struct HostPlacementView {
    std::string name; // as the user wrote it
    uint32_t node = 0;
    HostCores cores;
    std::vector<uint32_t> ranks;
    std::vector<CpuList> rank_cpus; // of each rank; empty: not bound
    std::string clusters;           // clusters of this host in a multi-cluster job
};

// node 0, n1
//   socket 0: core 0 (cpu 0,4) rank 0 | core 1 (cpu 1,5) rank 1 | core 2 (cpu 2,6) -
//   any core: ranks 2 3
std::string placement_text(const HostPlacementView& host);

} // namespace zipmpi::launch
