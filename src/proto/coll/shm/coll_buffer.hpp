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

#include "proto/progress/wait.hpp"
#include "proto/team.hpp"
#include "wire/coll_buffer_layout.hpp"

#include <array>
#include <vector>

namespace zipmpi::proto::coll {

// Kind of a collective, as members compare it.
enum class CollKind : uint32_t {
    barrier,
    broadcast,
    reduce,
    allreduce,
    scan,
    reduce_scatter,
    gather,
    scatter,
    allgather,
    alltoall,
    agreement
};
// Identifies a call, so that members can detect mismatches.
struct CollSignature {
    static constexpr uint32_t max_bytes = (1U << 26) - 1;
    uint32_t sequence; // of the collective, for reports
    uint32_t encoded;  // low 26 bits: bytes; high bits: kind and root

    CollSignature(uint32_t collective, CollKind function, uint64_t bytes, int root = 0)
        : sequence(collective)
        , encoded(static_cast<uint32_t>(bytes < max_bytes ? bytes : max_bytes) |
                  (static_cast<uint32_t>(function) + 17 * static_cast<uint32_t>(root)) << 26) {}
};

class CollBuffer {
  public:
    CollBuffer(const Team& team, const wire::CollBufferGeometry& geometry, uint64_t offset, bool use_flags);
    ~CollBuffer(); // leaves; the last member frees the memory
    CollBuffer(const CollBuffer&) = delete;
    CollBuffer& operator=(const CollBuffer&) = delete;

    [[nodiscard]] bool uses_flags() const { return uses_flags_; }
    [[nodiscard]] int members() const { return size_; }
    [[nodiscard]] int self() const { return rank_; }
    [[nodiscard]] transport::Peer peer(int member) const { return peers_[static_cast<size_t>(member)]; }
    [[nodiscard]] size_t slot_capacity() const {
        return geometry_.slot_bytes - sizeof(wire::SlotHead);
    } // bytes of payload

    // Starts the next operation and waits until its bank may be written. open: members may leave the
    // operation before all have arrived. late: number of preceding operations this member still reads from.
    uint32_t begin(bool open, const CollSignature& call, uint32_t late = 0);
    // Success, or the first mismatch with another member since the last call.
    [[nodiscard]] Err result();
    // A member has failed or the communicator is revoked: waits return immediately, and the contents of the
    // buffer are undefined.
    [[nodiscard]] bool has_failed() const { return failed_; }
    void check_faults() {
        engine_.poll_faults();
        if (engine_.comm_failure(wait_operation_.context) != Err::success) failed_ = true;
    }
    void mark_failed() { failed_ = true; } // a member is known to have failed
    [[nodiscard]] std::byte* slot(uint32_t op, int member) const {
        return memory_ + geometry_.slot_offset(op % geometry_.depth, static_cast<uint32_t>(member)) +
               sizeof(wire::SlotHead);
    }

    // --- flag-based synchronization
    void set_flag(uint32_t op) { set_flag_for(op, rank_); } // the slot of this member is filled
    void set_flag_for(uint32_t op, int member);             // the slot of `member` is filled
    void wait_flag(uint32_t op, int member);
    void wait_filled(uint32_t op, int member, int by); // waits for a slot that `by` fills
    void mark_filled(uint32_t op, int member); // sets the flag without wakeups; set_flag() must follow
    // --- counter-based synchronization
    bool arrive(uint32_t op); // true for the last member, which must release() the others
    void wait_arrivals(uint32_t op);
    void release(uint32_t op);
    void wait_release(uint32_t op);
    // --- either method
    // Waits until all members have arrived. late: number of preceding operations members still read from.
    void sync(uint32_t op, uint32_t late = 0);
    // Records full arrival where it was established by other calls than sync().
    void set_all_arrived(uint32_t op, uint32_t late = 0) { all_done_ = op - 1 - late; }
    // Like sync(), but members with waits == false return without waiting.
    void arrive_optional(uint32_t op, bool waits);

  private:
    using Condition = bool (*)(const CollBuffer& buffer, uint32_t op, int member);

    [[nodiscard]] wire::CollBufferHead& head() const {
        return *reinterpret_cast<wire::CollBufferHead*>(memory_);
    }
    [[nodiscard]] wire::CollBufferMember& member_state(int member) const {
        return reinterpret_cast<wire::CollBufferMember*>(memory_ + geometry_.members_offset())[member];
    }
    [[nodiscard]] wire::SlotHead& slot_head(uint32_t op, int member) const {
        return *reinterpret_cast<wire::SlotHead*>(slot(op, member) - sizeof(wire::SlotHead));
    }
    [[nodiscard]] std::atomic<uint32_t>& flag(uint32_t op, int member) const {
        return slot_head(op, member).seq;
    }
    void wake_all(std::atomic<uint64_t>* sleepers);
    void wait_for(Condition condition, uint32_t op, int member, bool for_bank = false);
    void wait_sleeping(Condition condition, uint32_t op, int member, bool for_bank);
    void wait_for_bank(uint32_t op);
    void spread_over_cpus();
    [[nodiscard]] int spin_count(uint32_t op);
    void publish_done(uint32_t op);
    void check_signature(uint32_t op, int member);
    void check_released_signature(uint32_t op);
    [[gnu::cold]] void record_mismatch(int member, uint32_t what);
    [[gnu::cold]] [[nodiscard]] int find_mismatch(uint32_t op) const;
    // How far done_published_ may lag behind done_. No member waits while the lag is less than the depth.
    [[nodiscard]] uint32_t max_publish_lag() const { return geometry_.depth / 4; }
    [[nodiscard]] const Operation& update_wait_operation(uint32_t op, int member, bool search);

    ProgressEngine& engine_;
    std::byte* memory_;
    wire::CollBufferGeometry geometry_;
    uint64_t offset_;
    int rank_;
    int size_;
    bool uses_flags_;
    RankMap parent_ranks_; // ranks of members in reports
    uint32_t cpus_;
    int home_cpu_ = -1;                 // CPU of this member if oversubscribed; -1: any
    uint32_t not_arrived_ = UINT32_MAX; // members that had not arrived when this one did
    uint32_t op_ = 0;                   // started last
    uint32_t all_done_ = 0;             // all members have finished operations up to this one
    uint32_t done_ = 0;                 // this member has finished operations up to this one
    uint32_t done_published_ = 0;       // value of done_ visible to others
    uint32_t sequence_ = 0;
    uint32_t signature_ = 0;
    bool failed_ = false;
    int mismatched_member_ = -1; // its signature differs; -1: none
    uint32_t mismatched_signature_ = 0;
    std::array<uint32_t, wire::coll_buffer_max_depth>
        expected_arrivals_{}; // by bank: arrival count when all have arrived
    std::vector<transport::Peer> peers_;
    std::vector<int> cpu_sharers_; // members on the CPU of this one, if few
    Operation wait_operation_;     // for reports
};

} // namespace zipmpi::proto::coll
