// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "topo/node_places.hpp"

#include "os/host.hpp"
#include "topo/module.hpp"

namespace zipmpi::topo {

void set_place(const boot::NodeSegment& segment, uint32_t local, const Place& place) {
    wire::PlaceEntry& entry = segment.place(local);
    uint32_t seen = wire::fact_absent;
    if (!entry.known.compare_exchange_strong(seen, wire::fact_in_work, std::memory_order_relaxed)) return;
    entry.place = place;
    entry.known.store(wire::fact_known, std::memory_order_release); // pairs with get_place()
}

bool get_place(const boot::NodeSegment& segment, uint32_t local, Place& place) {
    const wire::PlaceEntry& entry = segment.place(local);
    if (entry.known.load(std::memory_order_acquire) != wire::fact_known) return false;
    place = entry.place;
    return true;
}

void set_caches(const boot::NodeSegment& segment, const Machine& machine) {
    segment.facts().l2_bytes.store(machine.l2_bytes, std::memory_order_relaxed);
    segment.facts().l3_bytes.store(machine.l3_bytes, std::memory_order_relaxed);
}

static void find_place(const boot::NodeSegment& segment, uint32_t local, const Machine& machine, pid_t pid) {
    os::CpuUnion cpus;
    cpus.add(pid);
    if (!cpus.list().empty()) set_place(segment, local, place_of(machine, cpus.list()));
}

bool look_for_places(const boot::NodeSegment& segment) {
    std::atomic<uint32_t>& state = segment.facts().places;
    uint32_t seen = state.load(std::memory_order_relaxed);
    if (seen != wire::fact_absent) return seen == wire::fact_known;
    if (!state.compare_exchange_strong(seen, wire::fact_in_work, std::memory_order_acq_rel))
        return seen == wire::fact_known;
    Machine machine;
    Place known{};
    if (read_machine(machine)) {
        set_caches(segment, machine);
        for (uint32_t i = 0; i < segment.local_ranks(); ++i) {
            const pid_t pid = segment.block(i).pid.load(std::memory_order_relaxed);
            if (pid != 0 && !get_place(segment, i, known)) find_place(segment, i, machine, pid);
        }
    }
    state.store(wire::fact_known, std::memory_order_release); // pairs with the exchange of whoever asks next
    return true;
}

bool look_for_place(const boot::NodeSegment& segment, uint32_t local) {
    const uint32_t seen = segment.place(local).known.load(std::memory_order_acquire);
    if (seen != wire::fact_absent) return seen == wire::fact_known;
    const pid_t pid = segment.block(local).pid.load(std::memory_order_relaxed);
    if (pid == 0) return false;
    Machine machine;
    if (read_machine(machine)) find_place(segment, local, machine, pid);
    return true;
}

bool find_own_place(const boot::NodeSegment& segment, uint32_t self, Place& place) {
    if (get_place(segment, self, place)) return true;
    look_for_places(segment);
    Machine machine;
    if (!get_place(segment, self, place) && read_machine(machine)) find_place(segment, self, machine, 0);
    return get_place(segment, self, place);
}

} // namespace zipmpi::topo
