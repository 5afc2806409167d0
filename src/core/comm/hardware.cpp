// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/comm/hardware.hpp"

#include "core/state.hpp"
#include "os/host.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/progress/wait.hpp"
#include "topo/module.hpp"
#include "topo/node_places.hpp"

namespace zipmpi::core {
namespace {

bool is_gone(uint32_t local) {
    return lane().faulty() && lane().faults().gone.count(engine()->segment.world_rank(local)) != 0;
}

// A rank that dies while it reads the machine is replaced by the first one that waits for it.
bool look_for_places() {
    const boot::NodeSegment& segment = engine()->segment;
    const auto self = static_cast<uint32_t>(engine()->job.local_index);
    if (topo::look_for_places(segment, self)) return true;
    uint32_t reader = 0;
    if (!topo::who_looks_for_places(segment, reader) || !is_gone(reader)) return false;
    topo::replace_who_looks(segment, reader);
    return topo::look_for_places(segment, self);
}

// Whoever finds a place or joins wakes the ranks of the node that sleep here.
template <class Known>
void await_places(Known known) {
    const proto::Operation nothing;
    proto::WaitNote note = proto::note_on(nothing);
    note.last_look = [](void* waiter) {
        engine()->segment.await_facts();
        return (*static_cast<Known*>(waiter))();
    };
    note.waiter = &known;
    proto::wait_until(lane(), known, note);
}

} // namespace

bool find_own_place(topo::Place& place) {
    const boot::NodeSegment& segment = engine()->segment;
    const auto self = static_cast<uint32_t>(engine()->job.local_index);
    if (topo::get_place(segment, self, place)) return true;
    await_places(look_for_places);
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
    await_places([&] { return is_gone(peer) || (look_for_places() && topo::look_for_place(segment, peer)); });
    topo::get_place(segment, peer, place);
    return place;
}

} // namespace zipmpi::core
