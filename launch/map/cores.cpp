// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/cores.hpp"

#include "os/host.hpp"

#include <algorithm>

namespace zipmpi::launch {

std::vector<CpuList> allowed_cores(const topo::Machine& machine) {
    os::CpuUnion own;
    own.add(0);
    const std::vector<int> allowed = own.list();
    std::vector<CpuList> cores;
    uint16_t last = topo::several;
    for (const topo::CpuPlace& c : machine.cpus) {
        if (!std::binary_search(allowed.begin(), allowed.end(), c.cpu)) continue;
        if (cores.empty() || c.place.core != last || last == topo::several) cores.emplace_back();
        last = c.place.core;
        cores.back().push_back(c.cpu);
    }
    if (cores.empty())
        for (const int cpu : allowed) cores.push_back({cpu});
    return cores;
}

std::vector<topo::Place> places_of(const topo::Machine& machine, const std::vector<CpuList>& cores) {
    std::vector<topo::Place> places;
    places.reserve(cores.size());
    for (const CpuList& core : cores) places.push_back(topo::place_of(machine, core));
    return places;
}

std::vector<uint16_t> sockets_of(const topo::Machine& machine, const std::vector<CpuList>& cores) {
    std::vector<uint16_t> sockets;
    for (const topo::Place& place : places_of(machine, cores)) {
        const uint16_t socket = topo::index_at(place, topo::Level::package);
        sockets.push_back(socket == topo::several ? uint16_t{0} : socket);
    }
    return sockets;
}

} // namespace zipmpi::launch
