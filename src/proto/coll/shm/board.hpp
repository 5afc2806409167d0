// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A board (wire/board_layout.hpp) as one member sees it. All members do the same operations in the same
// order, one after the other; each begins with begin() and uses the part of the board that belongs to it.
//
// Two ways of finding each other: with marks, every member looks at the slots of the others (few members,
// each on a CPU of its own: one line goes over per member). With counters, members count themselves in and
// the last one does what is to be done and lets the others go on (many members, or more than there are CPUs:
// each is woken at most once).
//
// Threads: under the lane's lock, which is given up while a member waits.
#pragma once

#include "proto/progress/wait.hpp"
#include "proto/team.hpp"
#include "wire/board_layout.hpp"

#include <array>
#include <vector>

namespace zipmpi::proto::coll {

// A collective as members compare it: all must do the same. number: of the collective, for reports.
enum class Function : uint32_t {
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
struct Call {
    static constexpr uint32_t most_bytes = (1U << 26) - 1;
    uint32_t number;
    uint32_t what; // bytes below, function and root above

    Call(uint32_t collective, Function function, uint64_t bytes, int root = 0)
        : number(collective)
        , what(static_cast<uint32_t>(bytes < most_bytes ? bytes : most_bytes) |
               (static_cast<uint32_t>(function) + 17 * static_cast<uint32_t>(root)) << 26) {}
};

class Board {
  public:
    Board(const Team& team, const wire::BoardGeometry& geometry, uint64_t offset, bool marks);
    ~Board(); // leaves; the last member gives the memory back
    Board(const Board&) = delete;
    Board& operator=(const Board&) = delete;

    [[nodiscard]] bool by_marks() const { return marks_; }
    [[nodiscard]] int members() const { return size_; }
    [[nodiscard]] int self() const { return rank_; }
    [[nodiscard]] transport::Peer peer(int member) const { return peers_[static_cast<size_t>(member)]; }
    [[nodiscard]] size_t room() const { return geometry_.slot_bytes - sizeof(wire::SlotHead); } // of a slot

    // The next operation, when its part may be written: all members are through with what was there. open:
    // one that a member may leave before all have come. late: this member still reads from that many
    // operations before this one.
    uint32_t begin(bool open, const Call& call, uint32_t late = 0);
    // Success, or what another member has done differently in the operations since the last call.
    [[nodiscard]] Err result();
    // A member is gone, or the communicator is revoked: nobody is waited for any more, and what is on the
    // board means nothing.
    [[nodiscard]] bool broken() const { return broken_; }
    void look_whether_broken() {
        lane_.look_for_news();
        if (lane_.broken(shown_.context) != Err::success) broken_ = true;
    }
    void lose_member() { broken_ = true; } // it was found out that one is gone
    [[nodiscard]] std::byte* slot(uint32_t op, int member) const {
        return memory_ + geometry_.slot_offset(op % geometry_.depth, static_cast<uint32_t>(member)) +
               sizeof(wire::SlotHead);
    }

    // --- by marks
    void post(uint32_t op) { post_for(op, rank_); } // own slot is filled
    void post_for(uint32_t op, int member);         // that one's slot is filled
    void await_post(uint32_t op, int member);
    void await_fill(uint32_t op, int member, int by); // a slot that another member fills
    void fill_for(uint32_t op, int member);           // the same; a post follows
    // --- by counters
    bool arrive(uint32_t op); // true for the last one, which lets the others go on
    void await_arrivals(uint32_t op);
    void release(uint32_t op);
    void await_release(uint32_t op);
    // --- either
    // All have come. late: members still read from that many operations before this one.
    void gate(uint32_t op, uint32_t late = 0);
    // What gate() knows, where it was made of other calls.
    void all_came(uint32_t op, uint32_t late = 0) { all_done_ = op - 1 - late; }
    // The same, but only who waits needs all others; who does not goes on.
    void come(uint32_t op, bool waits);

  private:
    using Condition = bool (*)(const Board& board, uint32_t op, int member);

    [[nodiscard]] wire::BoardHead& head() const { return *reinterpret_cast<wire::BoardHead*>(memory_); }
    [[nodiscard]] wire::BoardMember& line(int member) const {
        return reinterpret_cast<wire::BoardMember*>(memory_ + geometry_.members_offset())[member];
    }
    [[nodiscard]] wire::SlotHead& slot_head(uint32_t op, int member) const {
        return *reinterpret_cast<wire::SlotHead*>(slot(op, member) - sizeof(wire::SlotHead));
    }
    [[nodiscard]] std::atomic<uint32_t>& mark(uint32_t op, int member) const {
        return slot_head(op, member).mark;
    }
    void wake_all(std::atomic<uint64_t>* sleepers);
    void await(Condition condition, uint32_t op, int member, bool for_room = false);
    void await_asleep(Condition condition, uint32_t op, int member, bool for_room);
    void await_room(uint32_t op);
    void take_turns_evenly();
    [[nodiscard]] int look_count(uint32_t op);
    void publish_done(uint32_t op);
    void compare(uint32_t op, int member);
    void compare_with_last(uint32_t op);
    [[gnu::cold]] void differs(int member, uint32_t what);
    [[gnu::cold]] [[nodiscard]] int find_other(uint32_t op) const;
    // How far what others see of this member may lag behind: nobody waits for it while it is less than the
    // depth.
    [[nodiscard]] uint32_t lag() const { return geometry_.depth / 4; }
    [[nodiscard]] const Operation& shown(uint32_t op, int member, bool search);

    Lane& lane_;
    std::byte* memory_;
    wire::BoardGeometry geometry_;
    uint64_t offset_;
    int rank_;
    int size_;
    bool marks_;
    RankMap in_whole_; // ranks of members as reports name them
    uint32_t cpus_;
    int home_ = -1;                 // the CPU on which this member takes turns with others; -1: any
    uint32_t missing_ = UINT32_MAX; // members that had not come when this one did
    uint32_t op_ = 0;               // begun last
    uint32_t all_done_ = 0;         // all members are known to be through with operations up to this
    uint32_t done_ = 0;             // this member is through with operations up to this
    uint32_t done_shown_ = 0;       // what others see of that
    uint32_t number_ = 0;
    uint32_t what_ = 0;
    bool broken_ = false;
    int other_ = -1; // does something else
    uint32_t others_what_ = 0;
    std::array<uint32_t, wire::board_max_depth> arrivals_due_{}; // by part: counts when all have come
    std::vector<transport::Peer> peers_;
    std::vector<int> sharing_; // the CPU with this one, if few
    Operation shown_;          // for reports
};

} // namespace zipmpi::proto::coll
