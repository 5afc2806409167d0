// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The module zipmpi_hwloc.so.
#include "launch/map/cores.hpp"

#include <hwloc.h>
#include <sched.h>

extern "C" [[gnu::visibility("default")]] bool zipmpi_list_cores(void (*add)(void*, uint32_t, int),
                                                                 void* arg);

extern "C" bool zipmpi_list_cores(void (*add)(void*, uint32_t, int), void* arg) {
    hwloc_topology_t topology{};
    if (hwloc_topology_init(&topology) != 0) return false;
    // Only cores and hardware threads: no devices, no caches, no memory.
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    bool ok = hwloc_topology_load(topology) == 0;
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();
    ok = ok && hwloc_get_cpubind(topology, mine, HWLOC_CPUBIND_PROCESS) == 0;
    const int cores = ok ? hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) : 0;
    uint32_t number = 0;
    for (int i = 0; i < cores; ++i) {
        hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
        bool any = false;
        int cpu = -1;
        while ((cpu = hwloc_bitmap_next(core->cpuset, cpu)) >= 0) {
            if (!hwloc_bitmap_isset(mine, static_cast<unsigned>(cpu))) continue;
            add(arg, number, cpu);
            any = true;
        }
        if (any) ++number;
    }
    hwloc_bitmap_free(mine);
    hwloc_topology_destroy(topology);
    return number > 0;
}
