// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// ProgressHandoff: hands progress over between application threads and the progress thread
// (progress_thread.hpp). The progress thread is parked while an application thread is inside MPI. The last
// thread that leaves wakes it: from a long sleep always, otherwise at most once per min_wake_interval_ns; in
// between, the progress thread polls on a timer.
#pragma once

#include "os/clock.hpp"
#include "os/futex.hpp"

#include <atomic>
#include <cstdint>
#include <unistd.h>

namespace zipmpi::proto {

class ProgressHandoff {
  public:
    // --- application threads
    void count_entry() { // under the engine's lock
        entries_.store(entries_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    // Called after the lock was released. seq_cst: either this thread sees that the progress thread is
    // parked, or the progress thread sees that no thread is inside MPI.
    void on_leave(bool has_hooks) {
        if (has_hooks) signal_event();
        const uint32_t state = parked_.load(std::memory_order_seq_cst);
        if (state == awake) return;
        const int64_t now = os::now_ns();
        if (state == parked && now - last_wake_ns_.load(std::memory_order_relaxed) < min_wake_interval_ns)
            return;
        last_wake_ns_.store(now, std::memory_order_relaxed);
        wake();
    }
    void wake() {
        parked_.store(awake, std::memory_order_seq_cst);
        os::futex_wake_all(parked_);
    }

    // --- progress thread
    // Called before a sleep that ranks of this node cannot end: a thread that leaves MPI with hooks installed
    // writes to the event. -1: no sleep.
    void arm_event(int event) { armed_event_.store(event, std::memory_order_seq_cst); }
    [[nodiscard]] uint32_t entries() const { return entries_.load(std::memory_order_seq_cst); }
    void park() { parked_.store(parked, std::memory_order_seq_cst); }
    void unpark() { parked_.store(awake, std::memory_order_seq_cst); }
    // Long sleep while a thread is inside MPI. Not if one has entered since entries() was `seen`, or if
    // is_inside() says that none is there: it may have left without waking this thread. seq_cst, as in
    // on_leave(): a thread that leaves after is_inside() sees that this thread is asleep.
    template <class IsInside>
    void sleep(int64_t ns, uint32_t seen, const IsInside& is_inside) {
        uint32_t expected = parked;
        if (parked_.compare_exchange_strong(expected, asleep, std::memory_order_seq_cst) &&
            entries() == seen && is_inside())
            os::futex_wait(parked_, asleep, ns);
    }

    [[nodiscard]] bool is_asleep() const { return parked_.load(std::memory_order_seq_cst) == asleep; }

    static constexpr int64_t min_wake_interval_ns = 200'000;

  private:
    static constexpr uint32_t awake = 0;
    static constexpr uint32_t parked = 1;
    static constexpr uint32_t asleep = 2; // for long
    void signal_event() {
        const int event = armed_event_.exchange(-1, std::memory_order_seq_cst);
        const uint64_t one = 1;
        if (event >= 0) static_cast<void>(!write(event, &one, sizeof one)); // a full event is readable too
    }

    std::atomic<uint32_t> parked_{awake};
    std::atomic<int> armed_event_{-1};
    std::atomic<uint32_t> entries_{0}; // into MPI so far
    std::atomic<int64_t> last_wake_ns_{0};
};

} // namespace zipmpi::proto
