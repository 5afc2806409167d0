// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Waits of one member for a word of a collective buffer: spin, yield, sleep. Oversubscribed members are kept
// evenly distributed over the CPUs.
//
// Threads: under the lock of the progress engine, which is released while a member waits.
#pragma once

#include "proto/coll/shm/coll_buffer_view.hpp"
#include "proto/coll/shm/coll_members.hpp"
#include "proto/coll/shm/comm_faults.hpp"
#include "proto/progress/wait.hpp"

#include <vector>

namespace zipmpi::proto::coll {

// What a member sleeps for: completion of an operation, or a bank that may be written.
enum class SleepReason : uint8_t { completion, bank };

struct CollWait {
    AwaitedWord awaited;
    uint32_t op;
    int member; // that must act; -1: any
    SleepReason reason;
};

class MemberWait {
  public:
    MemberWait(const Team& team, const CollBufferView& view, const CollMembers& members, CommFaults& faults);

    // Tells members on the same CPU that this one has entered the operation.
    void enter(uint32_t op) {
        if (!cpu_sharers_.empty()) view_.member(members_.self()).begun.store(op, std::memory_order_relaxed);
    }
    // Number of members that had not arrived when this one did.
    void set_not_arrived(uint32_t members) { not_arrived_ = members; }
    // Spins, and yields when oversubscribed. Returns false if the word is not reached: then sleep() follows.
    [[nodiscard]] bool spin(AwaitedWord awaited, uint32_t op) {
        return engine_.wait_tuning().oversubscribed() ? spin_oversubscribed(awaited, op)
                                                      : poll(awaited, default_spins);
    }
    void sleep(const CollWait& w, uint32_t sequence);

  private:
    struct Sleeper;
    // Polls before calling the progress engine: less time than a few cache-line transfers.
    static constexpr int default_spins = 200;

    static bool poll(AwaitedWord awaited, int spins) {
        for (; spins > 0; --spins) {
            if (awaited.is_reached()) return true;
            os::cpu_relax();
        }
        return false;
    }
    static bool final_check(void* sleeper);
    bool spin_oversubscribed(AwaitedWord awaited, uint32_t op);
    [[nodiscard]] int oversubscribed_spin_count(uint32_t op);
    void spread_over_cpus();
    [[nodiscard]] const Operation& update_report(const CollWait& w, bool search);

    ProgressEngine& engine_;
    const CollBufferView& view_;
    const CollMembers& members_;
    CommFaults& faults_;
    uint32_t cpus_;
    int home_cpu_ = -1;                 // CPU of this member if oversubscribed; -1: any
    uint32_t not_arrived_ = UINT32_MAX; // UINT32_MAX: unknown
    std::vector<int> cpu_sharers_;      // members on the CPU of this one, if few
    Operation report_;                  // the wait as an operation, for reports
};

} // namespace zipmpi::proto::coll
