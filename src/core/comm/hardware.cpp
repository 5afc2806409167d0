// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/comm/hardware.hpp"

#include "core/state.hpp"
#include "os/host.hpp"
#include "proto/progress/wait.hpp"
#include "topo/module.hpp"
#include "topo/node_places.hpp"

namespace zipmpi::core {

bool find_own_place(topo::Place& place) {
    const boot::NodeSegment& segment = engine()->segment;
    const auto self = static_cast<uint32_t>(engine()->job.local_index);
    if (topo::get_place(segment, self, place)) return true;
    const proto::Operation nothing;
    proto::wait_until(
        lane(), [&] { return topo::look_for_places(segment); }, proto::note_on(nothing));
    if (topo::get_place(segment, self, place)) return true;
    topo::Machine machine; // whoever looked did so before this rank had joined
    if (!topo::read_machine(machine)) return false;
    os::CpuUnion cpus;
    cpus.add(0);
    place = topo::place_of(machine, cpus.list());
    topo::set_place(segment, self, place);
    topo::get_place(segment, self, place); // another rank may have been first
    return true;
}

topo::Place place_of_peer(int world_rank) {
    topo::Place place = nowhere;
    const int local = lane().shm().reach(world_rank);
    if (local < 0) return place;
    const boot::NodeSegment& segment = engine()->segment;
    const auto peer = static_cast<uint32_t>(local);
    const proto::Operation nothing;
    proto::wait_until(
        lane(), [&] { return topo::look_for_places(segment) && topo::look_for_place(segment, peer); },
        proto::note_on(nothing));
    topo::get_place(segment, peer, place);
    return place;
}

} // namespace zipmpi::core
