// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One member's view of a collective buffer (wire/coll_buffer_layout.hpp). All members execute the same
// operations in the same order; each operation starts with begin() and uses one bank of the buffer.
//
// Two synchronization methods. Flags: every member polls the slots of the others, one cache-line transfer
// per member (few members, each on its own CPU). Counters: members increment an arrival counter; the last
// one does the work and releases the others (many members or oversubscribed: each is woken at most once).
//
// Threads: under the lock of the progress engine, which is released while a member waits.
#pragma once

#include "proto/coll/shm/bank_progress.hpp"
#include "proto/coll/shm/coll_buffer_view.hpp"
#include "proto/coll/shm/coll_members.hpp"
#include "proto/coll/shm/coll_signature.hpp"
#include "proto/coll/shm/coll_wait.hpp"
#include "proto/coll/shm/comm_faults.hpp"

#include <array>

namespace zipmpi::proto::coll {

enum class SyncMethod : uint8_t { counters, flags };

// Whether members may leave an operation before all have arrived.
enum class Leave : uint8_t { together, early };

class CollBuffer {
  public:
    CollBuffer(const Team& team, const wire::CollBufferGeometry& geometry, uint64_t offset,
               SyncMethod method);
    ~CollBuffer(); // leaves; the last member frees the memory
    CollBuffer(const CollBuffer&) = delete;
    CollBuffer& operator=(const CollBuffer&) = delete;

    [[nodiscard]] bool uses_flags() const { return method_ == SyncMethod::flags; }
    [[nodiscard]] int members() const { return members_.count(); }
    [[nodiscard]] int self() const { return members_.self(); }
    [[nodiscard]] transport::Peer peer(int member) const { return members_.peer(member); }
    [[nodiscard]] size_t slot_capacity() const { return view_.slot_capacity(); } // bytes of payload
    [[nodiscard]] std::byte* slot(uint32_t op, int member) const { return view_.slot(op, member); }

    // Starts the next operation and waits until its bank may be written. late: number of preceding
    // operations this member still reads from.
    uint32_t begin(Leave leave, const CollSignature& call, uint32_t late = 0);
    // Success, or the first mismatch with another member since the last call.
    [[nodiscard]] Err result();
    [[nodiscard]] CommFaults& faults() { return faults_; }

    // --- flag-based synchronization
    void set_flag(uint32_t op) { set_flag_for(op, self()); } // the slot of this member is filled
    void set_flag_for(uint32_t op, int member);              // the slot of `member` is filled
    void wait_flag(uint32_t op, int member) { wait_filled(op, member, member); }
    void wait_filled(uint32_t op, int member, int by); // waits for a slot that `by` fills
    void mark_filled(uint32_t op, int member); // sets the flag without wakeups; set_flag() must follow
    // --- counter-based synchronization
    bool arrive(uint32_t op); // true for the last member, which must release() the others
    void release(uint32_t op);
    void wait_release(uint32_t op);
    // --- either method
    // Waits until all members have arrived. late: number of preceding operations members still read from.
    void sync(uint32_t op, uint32_t late = 0);
    // Records full arrival where it was established by other calls than sync().
    void set_all_arrived(uint32_t op, uint32_t late = 0) { banks_.set_all_done(op - 1 - late); }
    // In an operation that members leave early: arrives, and waits for all others or leaves.
    void arrive_and_wait(uint32_t op);
    void arrive_and_leave(uint32_t op);

  private:
    void wait_for(AwaitedWord awaited, uint32_t op, int member,
                  SleepReason reason = SleepReason::completion) {
        if (!wait_.spin(awaited, op)) wait_longer({awaited, op, member, reason});
    }
    void wait_longer(const CollWait& w);
    void wait_for_bank(uint32_t op);
    void wait_other_flags(uint32_t op);
    [[gnu::cold]] [[nodiscard]] int find_mismatch(uint32_t op) const;

    const segment::NodeSegment& segment_;
    uint64_t offset_;
    SyncMethod method_;
    CollBufferView view_;
    CollMembers members_;
    CommFaults faults_;
    SignatureCheck signature_;
    BankProgress banks_;
    MemberWait wait_;
    std::array<uint32_t, wire::coll_buffer_max_depth>
        expected_arrivals_{}; // by bank: arrival count when all have arrived
};

} // namespace zipmpi::proto::coll
