// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "hwtopo/node_locality.hpp"

#include "hwtopo/topology_module.hpp"
#include "os/host.hpp"

#include <array>
#include <bit>
#include <sched.h>

namespace zipmpi::hwtopo {
namespace {

using Words = std::array<uint32_t, sizeof(Locality) / sizeof(uint32_t)>;

constexpr bool is_written(uint32_t state) { return state != 0 && state % 2 == 0; }

// Writes the locality if the entry has this state. Returns true if written.
bool write_locality(wire::LocalitySlot& entry, uint32_t state, const Locality& locality) {
    if (!entry.state.compare_exchange_strong(state, state + 1, std::memory_order_acquire)) return false;
    std::atomic_thread_fence(std::memory_order_release); // the odd state is visible before a word changes
    const auto words = std::bit_cast<Words>(locality);
    for (size_t i = 0; i < words.size(); ++i) entry.words[i].store(words[i], std::memory_order_relaxed);
    entry.state.store(state + 2,
                      std::memory_order_seq_cst); // pairs with get_locality() and NodeInformation::await()
    return true;
}

} // namespace

void set_locality(const segment::NodeSegment& segment, uint32_t local, const Locality& locality) {
    if (write_locality(segment.node_info().locality(local), 0, locality)) segment.node_info().notify();
}

// If a rank was killed while it wrote its own locality, the entry stays locked; it is no longer needed.
void update_locality(const segment::NodeSegment& segment, uint32_t local, const Locality& locality) {
    constexpr int tries = 100'000; // a write takes nanoseconds unless the writer loses the CPU
    wire::LocalitySlot& entry = segment.node_info().locality(local);
    for (int i = 0; i < tries; ++i) {
        const uint32_t state = entry.state.load(std::memory_order_relaxed);
        if (state % 2 == 0 && write_locality(entry, state, locality)) return;
        if (i % 100 == 0) sched_yield();
    }
}

void publish_rebinds(const segment::NodeSegment& segment) {
    segment.node_info().shared().rebinds.fetch_add(
        1, std::memory_order_release); // pairs with readers of the counter
}

bool get_locality(const segment::NodeSegment& segment, uint32_t local, Locality& locality) {
    const wire::LocalitySlot& entry = segment.node_info().locality(local);
    for (;;) {
        const uint32_t before = entry.state.load(std::memory_order_acquire);
        if (!is_written(before)) return false;
        Words words;
        for (size_t i = 0; i < words.size(); ++i) words[i] = entry.words[i].load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (entry.state.load(std::memory_order_relaxed) != before) continue; // changed meanwhile
        locality = std::bit_cast<Locality>(words);
        return true;
    }
}

void set_caches(const segment::NodeSegment& segment, const Machine& machine) {
    segment.node_info().shared().l2_bytes.store(machine.l2_bytes, std::memory_order_relaxed);
    segment.node_info().shared().l3_bytes.store(machine.l3_bytes, std::memory_order_relaxed);
}

// Returns true if this call made the locality known; the caller must then call NodeInformation::notify().
static bool probe_locality(const segment::NodeSegment& segment, uint32_t local, const Machine& machine,
                           pid_t pid) {
    os::CpuUnion cpus;
    cpus.add(pid);
    return !cpus.list().empty() &&
           write_locality(segment.node_info().locality(local), 0, locality_of(machine, cpus.list()));
}

bool discover_localities(const segment::NodeSegment& segment, uint32_t self) {
    std::atomic<uint32_t>& state = segment.node_info().shared().localities;
    // seq_cst: also the last check of a rank before it sleeps.
    uint32_t seen = state.load(std::memory_order_seq_cst);
    if (seen != wire::info_absent) return seen == wire::info_known;
    if (!state.compare_exchange_strong(seen, wire::info_in_progress_by(self), std::memory_order_acq_rel))
        return seen == wire::info_known;
    Machine machine;
    Locality existing{};
    if (read_machine(machine)) {
        set_caches(segment, machine);
        for (uint32_t i = 0; i < segment.local_ranks(); ++i) {
            const pid_t pid = segment.block(i).pid.load(std::memory_order_relaxed);
            if (pid != 0 && !get_locality(segment, i, existing))
                static_cast<void>(
                    probe_locality(segment, i, machine, pid)); // all waiting ranks are notified below
        }
    }
    state.store(wire::info_known, std::memory_order_seq_cst); // pairs with the load above in other ranks
    segment.node_info().notify();
    return true;
}

bool discovering_rank(const segment::NodeSegment& segment, uint32_t& local) {
    const uint32_t seen = segment.node_info().shared().localities.load(std::memory_order_relaxed);
    local = wire::discoverer_of(seen);
    return wire::is_in_progress(seen);
}

void reset_discovery(const segment::NodeSegment& segment, uint32_t dead) {
    for (uint32_t i = 0; i < segment.local_ranks(); ++i) { // it may have died during a first write
        uint32_t in_work = 1;
        segment.node_info().locality(i).state.compare_exchange_strong(in_work, 0, std::memory_order_relaxed);
    }
    uint32_t seen = wire::info_in_progress_by(dead);
    segment.node_info().shared().localities.compare_exchange_strong(seen, wire::info_absent,
                                                                    std::memory_order_relaxed);
}

bool discover_locality(const segment::NodeSegment& segment, uint32_t local) {
    const uint32_t seen = segment.node_info().locality(local).state.load(
        std::memory_order_seq_cst); // also the last check before sleep
    if (seen != 0) return is_written(seen);
    // The launcher withdraws the pid of a process that has ended; before it joined there was none either.
    const bool may_have_left = segment.block(local).state.load(std::memory_order_acquire) >=
                               static_cast<uint32_t>(wire::RankState::finalized);
    const pid_t pid = segment.block(local).pid.load(std::memory_order_seq_cst);
    if (pid == 0) return may_have_left;
    Machine machine;
    if (read_machine(machine) && probe_locality(segment, local, machine, pid)) segment.node_info().notify();
    return true;
}

bool own_locality(const segment::NodeSegment& segment, uint32_t self, Locality& locality) {
    if (get_locality(segment, self, locality)) return true;
    discover_localities(segment, self);
    Machine machine;
    if (!get_locality(segment, self, locality) && read_machine(machine) &&
        probe_locality(segment, self, machine, 0))
        segment.node_info().notify();
    return get_locality(segment, self, locality);
}

} // namespace zipmpi::hwtopo
