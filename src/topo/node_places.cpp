// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "topo/node_places.hpp"

#include "os/host.hpp"
#include "topo/module.hpp"

#include <array>
#include <bit>
#include <sched.h>

namespace zipmpi::topo {
namespace {

using Words = std::array<uint32_t, sizeof(Place) / sizeof(uint32_t)>;

constexpr bool is_written(uint32_t state) { return state != 0 && state % 2 == 0; }

// True: the entry had this state, and has the place now.
bool write_place(wire::PlaceEntry& entry, uint32_t state, const Place& place) {
    if (!entry.state.compare_exchange_strong(state, state + 1, std::memory_order_acquire)) return false;
    std::atomic_thread_fence(std::memory_order_release); // the state is odd before a word changes
    const auto words = std::bit_cast<Words>(place);
    for (size_t i = 0; i < words.size(); ++i) entry.words[i].store(words[i], std::memory_order_relaxed);
    entry.state.store(state + 2, std::memory_order_seq_cst); // pairs with get_place(), and with await_facts()
    return true;
}

} // namespace

void set_place(const boot::NodeSegment& segment, uint32_t local, const Place& place) {
    if (write_place(segment.place(local), 0, place)) segment.tell_facts();
}

// A rank that was killed while it moved its place keeps it: nobody asks for it any more.
void move_place(const boot::NodeSegment& segment, uint32_t local, const Place& place) {
    constexpr int tries = 100'000; // a place is written within nanoseconds, unless its writer loses the CPU
    wire::PlaceEntry& entry = segment.place(local);
    for (int i = 0; i < tries; ++i) {
        const uint32_t state = entry.state.load(std::memory_order_relaxed);
        if (state % 2 == 0 && write_place(entry, state, place)) return;
        if (i % 100 == 0) sched_yield();
    }
}

void announce_moves(const boot::NodeSegment& segment) {
    segment.facts().moves.fetch_add(1, std::memory_order_release); // pairs with whoever sees the number
}

bool get_place(const boot::NodeSegment& segment, uint32_t local, Place& place) {
    const wire::PlaceEntry& entry = segment.place(local);
    for (;;) {
        const uint32_t before = entry.state.load(std::memory_order_acquire);
        if (!is_written(before)) return false;
        Words words;
        for (size_t i = 0; i < words.size(); ++i) words[i] = entry.words[i].load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (entry.state.load(std::memory_order_relaxed) != before) continue; // it was moved meanwhile
        place = std::bit_cast<Place>(words);
        return true;
    }
}

void set_caches(const boot::NodeSegment& segment, const Machine& machine) {
    segment.facts().l2_bytes.store(machine.l2_bytes, std::memory_order_relaxed);
    segment.facts().l3_bytes.store(machine.l3_bytes, std::memory_order_relaxed);
}

// True: it is known now, and was not. Those who wait for it are still to be told.
static bool find_place(const boot::NodeSegment& segment, uint32_t local, const Machine& machine, pid_t pid) {
    os::CpuUnion cpus;
    cpus.add(pid);
    return !cpus.list().empty() && write_place(segment.place(local), 0, place_of(machine, cpus.list()));
}

bool look_for_places(const boot::NodeSegment& segment, uint32_t self) {
    std::atomic<uint32_t>& state = segment.facts().places;
    // seq_cst: also the last look of a rank that sleeps until it is known.
    uint32_t seen = state.load(std::memory_order_seq_cst);
    if (seen != wire::fact_absent) return seen == wire::fact_known;
    if (!state.compare_exchange_strong(seen, wire::fact_in_work_by(self), std::memory_order_acq_rel))
        return seen == wire::fact_known;
    Machine machine;
    Place known{};
    if (read_machine(machine)) {
        set_caches(segment, machine);
        for (uint32_t i = 0; i < segment.local_ranks(); ++i) {
            const pid_t pid = segment.block(i).pid.load(std::memory_order_relaxed);
            if (pid != 0 && !get_place(segment, i, known))
                static_cast<void>(find_place(segment, i, machine, pid)); // all are told below
        }
    }
    state.store(wire::fact_known, std::memory_order_seq_cst); // pairs with the load of whoever asks next
    segment.tell_facts();
    return true;
}

bool who_looks_for_places(const boot::NodeSegment& segment, uint32_t& local) {
    const uint32_t seen = segment.facts().places.load(std::memory_order_relaxed);
    local = wire::worker_of(seen);
    return wire::is_in_work(seen);
}

void replace_who_looks(const boot::NodeSegment& segment, uint32_t dead) {
    for (uint32_t i = 0; i < segment.local_ranks(); ++i) { // it may have died while it wrote the first of one
        uint32_t in_work = 1;
        segment.place(i).state.compare_exchange_strong(in_work, 0, std::memory_order_relaxed);
    }
    uint32_t seen = wire::fact_in_work_by(dead);
    segment.facts().places.compare_exchange_strong(seen, wire::fact_absent, std::memory_order_relaxed);
}

bool look_for_place(const boot::NodeSegment& segment, uint32_t local) {
    const uint32_t seen = segment.place(local).state.load(std::memory_order_seq_cst); // as above
    if (seen != 0) return is_written(seen);
    const pid_t pid = segment.block(local).pid.load(std::memory_order_seq_cst);
    if (pid == 0) return false;
    Machine machine;
    if (read_machine(machine) && find_place(segment, local, machine, pid)) segment.tell_facts();
    return true;
}

bool find_own_place(const boot::NodeSegment& segment, uint32_t self, Place& place) {
    if (get_place(segment, self, place)) return true;
    look_for_places(segment, self);
    Machine machine;
    if (!get_place(segment, self, place) && read_machine(machine) && find_place(segment, self, machine, 0))
        segment.tell_facts();
    return get_place(segment, self, place);
}

} // namespace zipmpi::topo
