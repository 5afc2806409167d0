// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/cores.hpp"

#include "hwtopo/topology_module.hpp"
#include "os/host.hpp"

#include <cstdio>

namespace zipmpi::launch {

CpuList allowed_cpus() {
    os::CpuUnion own;
    own.add(0);
    return own.list();
}

HostCores allowed_cores(const hwtopo::Machine& machine) { return cores_of(machine, allowed_cpus()); }

uint32_t count_local_units(Unit unit) {
    if (unit == Unit::node || unit == Unit::automatic || unit == Unit::board) return 1;
    hwtopo::Machine machine;
    hwtopo::read_machine(machine);
    return count_units(allowed_cores(machine), unit);
}

std::string boot_id() {
    std::string text;
    if (std::FILE* f = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
        char line[64] = {};
        if (std::fgets(line, sizeof line, f) != nullptr) text = line;
        std::fclose(f);
    }
    return text;
}

} // namespace zipmpi::launch
