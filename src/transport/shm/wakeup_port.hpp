// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sleep of the threads of this rank, and wakeups to and from its peers: a futex, and a socket for threads
// that also wait for a descriptor. docs/design/shared_memory.md argues why no wakeup is lost.
#pragma once

#include "os/wakeup_socket.hpp"
#include "transport/shm/local_rank.hpp"

namespace zipmpi::transport::shm {

class WakeupPort {
  public:
    explicit WakeupPort(const LocalRank& own)
        : own_(own) {}
    // The other parts of the transport refer to it.
    WakeupPort(const WakeupPort&) = delete;
    WakeupPort& operator=(const WakeupPort&) = delete;

    // Counts a thread in as a sleeper and returns its ticket; execute_barrier() and a final check follow.
    uint32_t announce_sleep();
    void execute_barrier();
    void end_sleep() { own_.block.sleepers.fetch_sub(1, std::memory_order_seq_cst); }
    bool sleep(uint32_t ticket, int64_t timeout_ns);
    bool enable_socket();
    bool sleep_on_descriptors(uint32_t ticket, int other, int64_t timeout_ns);
    void release_descriptors();

    void wake(wire::RankBlock& block);
    void wake_if_asleep(wire::RankBlock& block) {
        if (block.sleepers.load(std::memory_order_seq_cst) != 0) wake(block);
    }
    void wake_self() { wake_if_asleep(own_.block); }
    [[nodiscard]] uint32_t self_wakeups() const { return self_wakeups_; }
    [[nodiscard]] uint32_t awake() const {
        const uint32_t asleep = own_.segment.asleep().load(std::memory_order_relaxed);
        return asleep < own_.segment.local_ranks() ? own_.segment.local_ranks() - asleep : 0;
    }

  private:
    LocalRank own_;
    uint32_t self_wakeups_ = 0; // wakeups sent to this process itself
    os::WakeupSocket socket_;
};

} // namespace zipmpi::transport::shm
