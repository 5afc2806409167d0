// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cores of hwloc's synthetic descriptions, for tests.
#pragma once

#include "launch/placement/hardware_units.hpp"

#include "hwtopo/topology_module.hpp"

#include <algorithm>

namespace zipmpi::launch {

// Returns no cores if hwloc is not available.
inline HostCores synthetic_cores(const char* description) {
    hwtopo::Machine machine;
    if (!hwtopo::read_machine(machine, description)) return {};
    CpuList all;
    for (const hwtopo::CpuLocality& c : machine.cpus) all.push_back(c.cpu);
    std::sort(all.begin(), all.end());
    return cores_of(machine, all);
}

} // namespace zipmpi::launch
