// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The module zipmpi_topology.so: describes the machine by hwloc.
#include "hwtopo/topology_module.hpp"

#include <hwloc.h>

using zipmpi::hwtopo::CpuLocality;
using zipmpi::hwtopo::spans_several;

extern "C" [[gnu::visibility("default")]] bool
zipmpi_describe_machine_1(const char* synthetic, void (*add)(void*, const CpuLocality&), void* arg,
                          uint64_t& l2_bytes, uint64_t& l3_bytes);

namespace {

constexpr hwloc_obj_type_t kept[] = {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_CORE};

bool load(hwloc_topology_t topology, const char* synthetic) {
    // No devices and no levels that do not affect communication.
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (const auto type : kept) hwloc_topology_set_type_filter(topology, type, HWLOC_TYPE_FILTER_KEEP_ALL);
    // NUMA nodes that match no package or cache are attached to groups.
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    if (synthetic != nullptr)
        return hwloc_topology_set_synthetic(topology, synthetic) == 0 && hwloc_topology_load(topology) == 0;
    // The x86 component migrates to every CPU, which is slow on busy CPUs; the kernel provides the same data.
    hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    return hwloc_topology_load(topology) == 0;
}

uint16_t index_of(hwloc_topology_t topology, hwloc_obj_t pu, hwloc_obj_type_t type) {
    const hwloc_obj_t above = hwloc_get_ancestor_obj_by_type(topology, type, pu);
    return above != nullptr && above->logical_index < spans_several
               ? static_cast<uint16_t>(above->logical_index)
               : spans_several;
}

// The first NUMA node that the CPU is attached to.
uint16_t numa_of(hwloc_topology_t topology, hwloc_obj_t pu) {
    const int first = pu->nodeset != nullptr ? hwloc_bitmap_first(pu->nodeset) : -1;
    const hwloc_obj_t node =
        first >= 0 ? hwloc_get_numanode_obj_by_os_index(topology, static_cast<unsigned>(first)) : nullptr;
    return node != nullptr && node->logical_index < spans_several ? static_cast<uint16_t>(node->logical_index)
                                                                  : spans_several;
}

uint64_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type) {
    const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
    return cache != nullptr ? cache->attr->cache.size : 0;
}

} // namespace

extern "C" bool zipmpi_describe_machine_1(const char* synthetic, void (*add)(void*, const CpuLocality&),
                                          void* arg, uint64_t& l2_bytes, uint64_t& l3_bytes) {
    hwloc_topology_t topology{};
    if (hwloc_topology_init(&topology) != 0) return false;
    const bool ok = load(topology, synthetic);
    const int cpus = ok ? hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU) : 0;
    for (int i = 0; i < cpus; ++i) {
        const hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, static_cast<unsigned>(i));
        add(arg,
            CpuLocality{static_cast<int>(pu->os_index),
                        {index_of(topology, pu, HWLOC_OBJ_PACKAGE), numa_of(topology, pu),
                         index_of(topology, pu, HWLOC_OBJ_L3CACHE), index_of(topology, pu, HWLOC_OBJ_L2CACHE),
                         index_of(topology, pu, HWLOC_OBJ_CORE), static_cast<uint16_t>(pu->logical_index)}});
    }
    if (ok) {
        l2_bytes = cache_bytes(topology, HWLOC_OBJ_L2CACHE);
        l3_bytes = cache_bytes(topology, HWLOC_OBJ_L3CACHE);
    }
    hwloc_topology_destroy(topology);
    return cpus > 0;
}
