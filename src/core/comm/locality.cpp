// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/comm/locality.hpp"

#include "core/runtime_state.hpp"
#include "hwtopo/node_locality.hpp"
#include "hwtopo/topology_module.hpp"
#include "os/host.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {
namespace {

bool is_failed(uint32_t local) {
    return progress_engine().faults().any() &&
           progress_engine().faults().table().failed_ranks.count(runtime()->segment.world_rank(local)) != 0;
}

// If a rank fails while it reads the machine description, the first waiting rank replaces it.
bool discover_localities() {
    const segment::NodeSegment& segment = runtime()->segment;
    const auto self = static_cast<uint32_t>(runtime()->job.local_index);
    if (hwtopo::discover_localities(segment, self)) return true;
    uint32_t reader = 0;
    if (!hwtopo::discovering_rank(segment, reader) || !is_failed(reader)) return false;
    hwtopo::reset_discovery(segment, reader);
    return hwtopo::discover_localities(segment, self);
}

// A rank that publishes a locality or joins wakes the ranks of the node that wait here.
template <class Known>
void wait_for_localities(Known is_ready) {
    const proto::Operation nothing;
    proto::WaitInfo wait_info = proto::wait_info_of(nothing);
    wait_info.final_check = [](void* waiter) {
        runtime()->segment.node_info().await();
        return (*static_cast<Known*>(waiter))();
    };
    wait_info.waiter = &is_ready;
    proto::wait_until(progress_engine(), is_ready, wait_info);
}

} // namespace

bool find_own_locality(hwtopo::Locality& locality) {
    const segment::NodeSegment& segment = runtime()->segment;
    const auto self = static_cast<uint32_t>(runtime()->job.local_index);
    if (hwtopo::get_locality(segment, self, locality)) return true;
    wait_for_localities(discover_localities);
    if (hwtopo::get_locality(segment, self, locality)) return true;
    hwtopo::Machine machine; // localities may have been published before this rank had joined
    if (!hwtopo::read_machine(machine)) return false;
    os::CpuUnion cpus;
    cpus.add(0);
    locality = hwtopo::locality_of(machine, cpus.list());
    hwtopo::set_locality(segment, self, locality);
    hwtopo::get_locality(segment, self, locality); // another rank may have been first
    return true;
}

hwtopo::Locality locality_of_peer(int world_rank) {
    hwtopo::Locality locality = unknown_locality;
    const int local = progress_engine().shm().peer_of(world_rank);
    if (local < 0) return locality;
    const segment::NodeSegment& segment = runtime()->segment;
    const auto peer = static_cast<uint32_t>(local);
    wait_for_localities([&] {
        return is_failed(peer) || (discover_localities() && hwtopo::discover_locality(segment, peer));
    });
    hwtopo::get_locality(segment, peer, locality);
    return locality;
}

} // namespace zipmpi::core
