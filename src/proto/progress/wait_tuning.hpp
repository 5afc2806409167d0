// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// WaitTuning: what a waiting rank knows about the load of its node, and how long it polls (wait.cpp).
#pragma once

#include "transport/shm/shm_transport.hpp"

#include <atomic>
#include <cstdint>

namespace zipmpi::proto {

class WaitTuning {
  public:
    explicit WaitTuning(const transport::shm::ShmTransport& shm)
        : shm_(shm)
        , local_ranks_(shm.segment().local_ranks())
        , usable_cpus_(shm.segment().header().usable_cpus) {}

    [[nodiscard]] bool oversubscribed() const {
        return local_ranks_ > usable_cpus_.load(std::memory_order_relaxed);
    }
    // More ranks than CPUs, but at most twice as many.
    [[nodiscard]] bool slightly_oversubscribed() const {
        return oversubscribed() && local_ranks_ <= 2 * usable_cpus_.load(std::memory_order_relaxed);
    }
    // At most as many ranks are awake as there are CPUs.
    [[nodiscard]] bool awake_fit_cpus() const {
        return shm_.awake() <= usable_cpus_.load(std::memory_order_relaxed);
    }
    // Polls before a wait yields, adapted to earlier waits.
    [[nodiscard]] uint32_t spin_limit() const { return spin_limit_; }
    void set_spin_limit(uint32_t rounds) { spin_limit_ = rounds; }
    // When the present wait began to yield; of the wait that began last if several threads wait.
    [[nodiscard]] uint64_t yields_since_ns() const { return yields_since_ns_; }
    void set_yields_since_ns(uint64_t now) { yields_since_ns_ = now; }
    // Consecutive idle polls of nonblocking calls.
    uint32_t count_idle_poll() { return ++idle_polls_; }
    void reset_idle_polls() { idle_polls_ = 0; }

  private:
    const transport::shm::ShmTransport& shm_;
    uint32_t local_ranks_;
    const std::atomic<uint32_t>& usable_cpus_; // in the segment; final when all ranks have joined
    uint32_t spin_limit_ = UINT32_MAX;
    uint32_t idle_polls_ = 0;
    uint64_t yields_since_ns_ = 0;
};

} // namespace zipmpi::proto
