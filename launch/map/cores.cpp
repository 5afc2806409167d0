// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/cores.hpp"

#include "launch/noded/module.hpp"

#include <sched.h>

namespace zipmpi::launch {

std::vector<CpuList> allowed_cores() {
    std::vector<CpuList> cores;
    const auto list = reinterpret_cast<ListCores>(load_symbol("zipmpi_hwloc.so", "zipmpi_list_cores"));
    const auto add = [](void* arg, uint32_t core, int cpu) {
        auto& all = *static_cast<std::vector<CpuList>*>(arg);
        if (core >= all.size()) all.resize(core + 1);
        all[core].push_back(cpu);
    };
    if (list != nullptr && list(add, &cores)) return cores;
    cores.clear();
    constexpr int most_cpus = 1 << 14;
    cpu_set_t* set = CPU_ALLOC(most_cpus);
    if (set == nullptr) return cores;
    const size_t bytes = CPU_ALLOC_SIZE(most_cpus);
    if (sched_getaffinity(0, bytes, set) == 0)
        for (int cpu = 0; cpu < most_cpus; ++cpu)
            if (CPU_ISSET_S(cpu, bytes, set)) cores.push_back({cpu});
    CPU_FREE(set);
    return cores;
}

} // namespace zipmpi::launch
