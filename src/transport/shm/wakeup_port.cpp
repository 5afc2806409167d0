// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/wakeup_port.hpp"

#include "os/futex.hpp"
#include "os/membarrier.hpp"

namespace zipmpi::transport::shm {

uint32_t WakeupPort::announce_sleep() {
    const uint32_t ticket = own_.block.wake.load(std::memory_order_seq_cst);
    own_.block.sleepers.fetch_add(1, std::memory_order_seq_cst);
    return ticket;
}

// With enough CPUs ranks rarely sleep, so the barrier is cheaper here; when oversubscribed they sleep often,
// and a barrier in each sender is cheaper.
void WakeupPort::execute_barrier() {
    if (own_.uses_membarrier &&
        (own_.block.uses_membarrier.load(std::memory_order_relaxed) != 0 || enough_cpus(own_.segment))) {
        own_.block.uses_membarrier.store(1, std::memory_order_seq_cst);
        os::global_membarrier();
    }
}

bool WakeupPort::sleep(uint32_t ticket, int64_t timeout_ns) {
    std::atomic<uint32_t>& asleep = own_.segment.asleep();
    asleep.fetch_add(1, std::memory_order_relaxed);
    own_.block.futex_sleepers.fetch_add(1, std::memory_order_seq_cst);
    const os::FutexWait how = os::futex_wait(own_.block.wake, ticket, timeout_ns);
    own_.block.futex_sleepers.fetch_sub(1, std::memory_order_relaxed);
    if (how != os::FutexWait::woken) asleep.fetch_sub(1, std::memory_order_relaxed);
    return how != os::FutexWait::timed_out;
}

bool WakeupPort::enable_socket() {
    const uint64_t address = socket_.open();
    own_.block.wake_socket.store(address, std::memory_order_release);
    return address != 0;
}

bool WakeupPort::sleep_on_descriptors(uint32_t ticket, int other, int64_t timeout_ns) {
    std::atomic<uint32_t>& asleep = own_.segment.asleep();
    asleep.fetch_add(1, std::memory_order_relaxed);
    // Either the waking process sees this count and notifies the socket, or we see that the futex word has
    // changed.
    own_.block.descriptor_sleepers.fetch_add(1, std::memory_order_seq_cst);
    const bool woken =
        own_.block.wake.load(std::memory_order_seq_cst) != ticket || socket_.wait(other, timeout_ns);
    own_.block.descriptor_sleepers.fetch_sub(1, std::memory_order_relaxed);
    asleep.fetch_sub(1, std::memory_order_relaxed);
    return woken;
}

void WakeupPort::release_descriptors() {
    // A thread about to sleep is already armed but perhaps not yet counted in futex_sleepers.
    if (own_.block.sleepers.load(std::memory_order_seq_cst) > 1) wake(own_.block);
}

void WakeupPort::wake(wire::RankBlock& block) {
    block.wake.fetch_add(1, std::memory_order_seq_cst);
    own_.block.counters.add(Counter::wakeups_sent);
    if (&block == &own_.block) ++self_wakeups_;
    if (const uint64_t address = block.wake_socket.load(std::memory_order_relaxed); address != 0) {
        // A thread that is about to sleep and not counted yet finds the futex word changed.
        if (block.descriptor_sleepers.load(std::memory_order_seq_cst) != 0) socket_.notify(address);
        if (block.futex_sleepers.load(std::memory_order_seq_cst) == 0) return;
    }
    if (const uint32_t woken = os::futex_wake_all(block.wake); woken != 0)
        own_.segment.asleep().fetch_sub(woken, std::memory_order_relaxed);
}

} // namespace zipmpi::transport::shm
