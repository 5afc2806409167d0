// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Between the threads of the program and the helper (helper.hpp): who makes progress. The helper is parked
// while a thread is inside MPI, and woken by the last one that leaves, but not after each of many short
// calls: then it looks by itself soon.
#pragma once

#include "os/clock.hpp"
#include "os/futex.hpp"

#include <atomic>
#include <cstdint>
#include <unistd.h>

namespace zipmpi::proto {

class HandOver {
  public:
    // --- threads of the program
    void note_entry() { // under the lane's lock
        entries_.store(entries_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    // After the lock was given back. seq_cst: either this sees that the helper is parked, or the helper, that
    // nobody is inside.
    void note_leave(bool waits_for_node) {
        if (waits_for_node) rouse();
        if (parked_.load(std::memory_order_seq_cst) == 0) return;
        const int64_t now = os::now_ns();
        if (now - last_wake_ns_.load(std::memory_order_relaxed) < wakes_apart_ns) return;
        last_wake_ns_.store(now, std::memory_order_relaxed);
        wake();
    }
    void wake() {
        parked_.store(0, std::memory_order_seq_cst);
        os::futex_wake_all(parked_);
    }

    // --- the helper
    // About to sleep without hearing ranks of this node: whoever needs that writes to the event.
    void set_deaf(int event) { deaf_.store(event, std::memory_order_seq_cst); }
    [[nodiscard]] uint32_t entries() const { return entries_.load(std::memory_order_relaxed); }
    void park() { parked_.store(1, std::memory_order_seq_cst); }
    void unpark() { parked_.store(0, std::memory_order_seq_cst); }
    void sleep(int64_t ns) { os::futex_wait(parked_, 1, ns); }

    static constexpr int64_t wakes_apart_ns = 200'000;

  private:
    void rouse() {
        const int event = deaf_.exchange(-1, std::memory_order_seq_cst);
        const uint64_t one = 1;
        if (event >= 0) static_cast<void>(!write(event, &one, sizeof one)); // if it is full, it is readable
    }

    std::atomic<uint32_t> parked_{0};
    std::atomic<int> deaf_{-1};
    std::atomic<uint32_t> entries_{0}; // into MPI, so far
    std::atomic<int64_t> last_wake_ns_{0};
};

} // namespace zipmpi::proto
