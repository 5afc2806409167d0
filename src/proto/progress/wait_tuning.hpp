// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// WaitTuning: what a waiting rank knows about the load of its CPUs, and how long it polls (wait.cpp).
#pragma once

#include "os/runnable_threads.hpp"
#include "transport/shm/shm_transport.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace zipmpi::proto {

class WaitTuning {
  public:
    explicit WaitTuning(const transport::shm::ShmTransport& shm)
        : shm_(shm)
        , local_ranks_(shm.segment().local_ranks())
        , usable_cpus_(shm.segment().header().usable_cpus)
        , other_ranks_(shm.segment().header().other_ranks) {}

    [[nodiscard]] bool oversubscribed() const { return ranks() > usable_cpus(); }
    // The ranks of this node alone are more than its CPUs.
    [[nodiscard]] bool oversubscribed_by_node() const { return local_ranks_ > usable_cpus(); }
    // More ranks than CPUs, but at most twice as many.
    [[nodiscard]] bool slightly_oversubscribed() const {
        return oversubscribed() && ranks() <= 2 * usable_cpus();
    }
    // At most as many ranks are awake as there are CPUs. Of other nodes and jobs that share the CPUs it is
    // not known: all their ranks are assumed to be awake. So is this one, although its progress thread may
    // sleep.
    [[nodiscard]] bool awake_fit_cpus() const {
        return std::max(shm_.awake(), 1U) + other_ranks_.load(std::memory_order_relaxed) <= usable_cpus();
    }
    // Ranks that are awake share CPUs.
    [[nodiscard]] bool awake_share_cpus() const { return oversubscribed() && !awake_fit_cpus(); }
    // No other thread of the host wanted a CPU when this was last examined, at most 1 ms ago.
    [[nodiscard]] bool only_ranks_run(uint64_t now) {
        if (now - examined_ns_ < examination_period_ns) return only_ranks_run_;
        examined_ns_ = now;
        const uint32_t runnable = runnable_threads_.count();
        only_ranks_run_ =
            runnable != 0 && runnable <= shm_.awake() + other_ranks_.load(std::memory_order_relaxed);
        return only_ranks_run_;
    }
    // Polls before a wait yields, adapted to earlier waits.
    [[nodiscard]] uint32_t spin_limit() const { return spin_limit_; }
    void set_spin_limit(uint32_t rounds) { spin_limit_ = rounds; }
    // When the present wait began to yield; of the wait that began last if several threads wait.
    [[nodiscard]] uint64_t yields_since_ns() const { return yields_since_ns_; }
    void set_yields_since_ns(uint64_t now) { yields_since_ns_ = last_yield_ns_ = now; }
    // The time since the wait began to yield, or since the last call if that is later.
    uint64_t end_yield(uint64_t now) { return now - std::exchange(last_yield_ns_, now); }
    // Consecutive idle polls of nonblocking calls.
    uint32_t count_idle_poll() { return ++idle_polls_; }
    void reset_idle_polls() { idle_polls_ = 0; }

  private:
    static constexpr uint64_t examination_period_ns = 1'000'000;

    [[nodiscard]] uint32_t ranks() const {
        return local_ranks_ + other_ranks_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] uint32_t usable_cpus() const { return usable_cpus_.load(std::memory_order_relaxed); }

    const transport::shm::ShmTransport& shm_;
    uint32_t local_ranks_;
    const std::atomic<uint32_t>& usable_cpus_; // in the segment; final when all ranks have joined
    const std::atomic<uint32_t>& other_ranks_; // in the segment; the launcher may change it at any time
    uint32_t spin_limit_ = UINT32_MAX;
    uint32_t idle_polls_ = 0;
    uint64_t yields_since_ns_ = 0;
    uint64_t last_yield_ns_ = 0;
    os::RunnableThreads runnable_threads_;
    uint64_t examined_ns_ = 0;
    bool only_ranks_run_ = false;
};

} // namespace zipmpi::proto
