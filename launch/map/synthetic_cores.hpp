// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cores of hwloc's synthetic descriptions, for tests.
#pragma once

#include "launch/map/units.hpp"

#include "topo/module.hpp"

#include <algorithm>

namespace zipmpi::launch {

// No cores: hwloc is not there.
inline HostCores synthetic_cores(const char* description) {
    topo::Machine machine;
    if (!topo::read_machine(machine, description)) return {};
    CpuList all;
    for (const topo::CpuPlace& c : machine.cpus) all.push_back(c.cpu);
    std::sort(all.begin(), all.end());
    return cores_of(machine, all);
}

} // namespace zipmpi::launch
