// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Machines of hwloc's synthetic descriptions, for tests.
#pragma once

#include "mapping/targets.hpp"

#include "hwtopo/topology_module.hpp"

namespace zipmpi::mapping {

// Two sockets with two second-level caches of two cores each, numbered as the kernel does.
inline constexpr const char* eight_cores = "package:2 l2:2 core:2 pu:1(indexes=0,4,2,6,1,5,3,7)";
inline constexpr const char* sixteen_cores = "package:2 l2:4 core:2 pu:1";
inline constexpr const char* many_cores = "package:2 l3:8 l2:8 core:1 pu:1"; // 2 x 64, 8 L3 each

struct SyntheticMachine {
    std::vector<hwtopo::Locality> cores;
    std::vector<int> cpus;
    bool known = false;
    explicit SyntheticMachine(const char* description) {
        hwtopo::Machine machine;
        known = hwtopo::read_machine(machine, description);
        for (const hwtopo::CpuLocality& c : machine.cpus) {
            cores.push_back(c.locality);
            cpus.push_back(c.cpu);
        }
    }
};

} // namespace zipmpi::mapping
