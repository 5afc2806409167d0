// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/board.hpp"

#include "os/clock.hpp"
#include "os/placement.hpp"
#include "proto/coll/shm/area.hpp"

#include <bit>
#include <utility>

namespace zipmpi::proto::coll {
namespace {

// Numbers of operations wrap around.
bool reached(uint32_t value, uint32_t op) { return static_cast<int32_t>(value - op) >= 0; }

// Looks before the lane is asked for other work: less than it takes to fetch a few lines.
constexpr int quick_looks = 200;
// The same where ranks take turns, if those waited for may be on other CPUs: as long as it takes to let
// another rank run.
constexpr int crowded_looks = 30;
// So often the CPU is offered to others before the lane is asked for other work.
constexpr int quick_yields = 2;
// So many members on a CPU look how far the others are.
constexpr uint32_t most_sharing = 4;

struct Waiter {
    const Board* board;
    bool (*condition)(const Board& board, uint32_t op, int member);
    uint32_t op;
    int member;
    std::atomic<uint64_t>* sleepers; // where it says that it sleeps
    uint64_t bit;
    std::atomic<uint32_t>* awaited; // for room: on the line of the member it waits for
    uint32_t sleeps;
};

// seq_cst with the store of what is waited for and the look at the sleepers after it: either that look sees
// us, or we see the store.
bool last_look(void* waiter) {
    auto& w = *static_cast<Waiter*>(waiter);
    ++w.sleeps;
    w.sleepers->fetch_or(w.bit, std::memory_order_seq_cst);
    if (w.awaited != nullptr) w.awaited->store(1, std::memory_order_seq_cst);
    return w.condition(*w.board, w.op, w.member);
}

} // namespace

Board::Board(const Team& team, const wire::BoardGeometry& geometry, uint64_t offset, bool marks)
    : lane_(*team.lane)
    , memory_(lane_.shm().segment().board(offset))
    , geometry_(geometry)
    , offset_(offset)
    , rank_(team.rank)
    , size_(team.size)
    , marks_(marks)
    , in_whole_(team.in_whole)
    , cpus_(lane_.shm().segment().header().usable_cpus.load(std::memory_order_relaxed)) {
    for (int r = 0; r < size_; ++r)
        peers_.push_back(static_cast<transport::Peer>(lane_.shm().reach(team.map.world(r))));
    shown_ = make_recv(team, nullptr, 0, rank_, 0);
    shown_.context = team.context + 1;
    const uint32_t all = lane_.shm().segment().local_ranks();
    if (static_cast<uint32_t>(size_) != all || !lane_.oversubscribed()) return;
    home_ = os::move_to_cpu(lane_.shm().self());
    for (int r = 0; r < size_ && all <= most_sharing * cpus_; ++r)
        if (r != rank_ && (peer(r) - lane_.shm().self()) % cpus_ == 0) sharing_.push_back(r);
}

Board::~Board() {
    if (head().members.value.fetch_sub(1, std::memory_order_acq_rel) == 1)
        give_board_memory_back(lane_.shm().segment(), offset_, geometry_.total_bytes());
}

uint32_t Board::begin(bool open, const Call& call, uint32_t late) {
    number_ = call.number;
    what_ = call.what;
    const uint32_t op = ++op_;
    const uint32_t through = op - 1 - late;
    done_ = through;
    if (open && through - done_shown_ > lag()) publish_done(through);
    if (!reached(all_done_ + geometry_.depth, op)) await_room(op - geometry_.depth);
    slot_head(op, rank_).what.store(what_, std::memory_order_relaxed);
    if (!sharing_.empty()) line(rank_).begun.store(op, std::memory_order_relaxed);
    return op;
}

void Board::differs(int member, uint32_t what) {
    other_ = member;
    others_what_ = what;
}

void Board::compare(uint32_t op, int member) {
    const uint32_t what = slot_head(op, member).what.load(std::memory_order_relaxed);
    if (what != what_) [[unlikely]]
        differs(member, what);
}

// If not all do the same, somebody differs from the one who has let all go on.
void Board::compare_with_last(uint32_t op) {
    const uint32_t what = head().released[op % geometry_.depth].what.load(std::memory_order_relaxed);
    if (what != what_) [[unlikely]]
        differs(find_other(op), what);
}

int Board::find_other(uint32_t op) const {
    for (int r = 0; r < size_; ++r)
        if (slot_head(op, r).what.load(std::memory_order_relaxed) != what_) return r;
    return rank_;
}

Err Board::result() {
    if (broken_) [[unlikely]] {
        const Err why = lane_.broken(shown_.context);
        return why != Err::success ? why
                                   : fail(Err::proc_failed, "see what the launcher says about it",
                                          "a rank that takes part in this collective has failed");
    }
    if (other_ < 0) return Err::success;
    const int other = in_whole_.world(std::exchange(other_, -1));
    const uint32_t sent = others_what_ & Call::most_bytes;
    const uint32_t expected = what_ & Call::most_bytes;
    constexpr const char* what_to_do =
        "call the same collective with the same count and datatype on all ranks of the communicator";
    if (sent == expected)
        return fail(Err::not_same, what_to_do,
                    "rank %d takes part in another collective, or with another root", other);
    return fail(sent > expected ? Err::truncate : Err::not_same, what_to_do,
                "rank %d has sent %u bytes in this collective, this rank expects %u", other, sent, expected);
}

// Goes to sleep for one member at a time, the last one found: while we sleep the others come along, too.
void Board::await_room(uint32_t op) {
    const Condition through = [](const Board& b, uint32_t until, int member) {
        // pairs with publish_done(): the member has read what it wanted
        return reached(b.line(member).done.load(std::memory_order_seq_cst), until);
    };
    for (int r = size_ - 1; r >= 0; --r)
        if (r != rank_ && !through(*this, op, r)) await(through, op, r, true);
    all_done_ = op;
}

void Board::publish_done(uint32_t op) {
    done_shown_ = op;
    wire::BoardMember& own = line(rank_);
    own.done.store(op, std::memory_order_seq_cst);
    if (own.awaited.load(std::memory_order_seq_cst) == 0) return;
    own.awaited.store(0,
                      std::memory_order_seq_cst); // before the look at who sleeps: a later one sets it again
    wake_all(head().room_sleepers);
}

void Board::fill_for(uint32_t op, int member) {
    mark(op, member).store(op, std::memory_order_release); // pairs with await_post()
}

void Board::post_for(uint32_t op, int member) {
    mark(op, member).store(op, std::memory_order_seq_cst); // pairs with await_post()
    wake_all(head().sleepers);
}

void Board::await_post(uint32_t op, int member) { await_fill(op, member, member); }

void Board::await_fill(uint32_t op, int member, int by) {
    await([](const Board& b, uint32_t o,
             int m) { return reached(b.mark(o, m).load(std::memory_order_acquire), o); },
          op, member);
    compare(op, by);
}

bool Board::arrive(uint32_t op) {
    uint32_t& due = arrivals_due_[op % geometry_.depth];
    due += static_cast<uint32_t>(size_);
    mark(op, rank_).store(op, std::memory_order_relaxed); // tells who is missing
    // Pairs with itself and await_arrivals(): the last one sees what all have written.
    missing_ = due - 1 - head().arrived[op % geometry_.depth].value.fetch_add(1, std::memory_order_seq_cst);
    return missing_ == 0;
}

void Board::await_arrivals(uint32_t op) {
    await(
        [](const Board& b, uint32_t o, int) {
            const uint32_t part = o % b.geometry_.depth;
            return b.head().arrived[part].value.load(std::memory_order_seq_cst) == b.arrivals_due_[part];
        },
        op, -1);
}

void Board::release(uint32_t op) {
    auto& released = head().released[op % geometry_.depth];
    released.what.store(what_, std::memory_order_relaxed);
    released.value.store(op, std::memory_order_seq_cst);
    wake_all(head().sleepers);
}

void Board::await_release(uint32_t op) {
    await(
        [](const Board& b, uint32_t o, int) { // pairs with release()
            const uint32_t now =
                b.head().released[o % b.geometry_.depth].value.load(std::memory_order_seq_cst);
            return reached(now, o);
        },
        op, -1);
    compare_with_last(op);
}

void Board::gate(uint32_t op, uint32_t late) {
    if (marks_) {
        post(op);
        for (int r = 0; r < size_; ++r)
            if (r != rank_) await_post(op, r);
    } else if (arrive(op)) {
        release(op);
    } else {
        await_release(op);
    }
    all_came(op, late); // whoever has come here is through with what was before
}

void Board::come(uint32_t op, bool waits) {
    if (marks_) {
        post(op);
        for (int r = 0; waits && r < size_; ++r)
            if (r != rank_) await_post(op, r);
    } else if (arrive(op)) {
        wake_all(head().sleepers);
    } else if (waits) {
        await_arrivals(op);
    }
    if (!waits) return;
    all_came(op);
    if (!marks_) compare(op, (rank_ + 1) % size_);
}

void Board::wake_all(std::atomic<uint64_t>* sleepers) {
    for (int first = 0; first < size_; first += 64) {
        auto& word = sleepers[first / 64];
        if (word.load(std::memory_order_seq_cst) == 0) continue;
        uint64_t bits = word.exchange(0, std::memory_order_seq_cst);
        for (; bits != 0; bits &= bits - 1) {
            const int r = first + std::countr_zero(bits);
            if (r < size_ && r != rank_) lane_.shm().wake_peer(peers_[static_cast<size_t>(r)]);
        }
    }
}

// Where ranks take turns: one that has not come so far and shares the CPU should run now. If there is none,
// those waited for are elsewhere, and may be running.
int Board::look_count(uint32_t op) {
    if (!lane_.oversubscribed()) return quick_looks;
    for (const int other : sharing_)
        if (!reached(line(other).begun.load(std::memory_order_relaxed), op)) return 1;
    const bool few = std::exchange(missing_, UINT32_MAX) < cpus_;
    return few || !sharing_.empty() ? crowded_looks : 1;
}

void Board::await(Condition condition, uint32_t op, int member, bool for_room) {
    for (int yields = lane_.oversubscribed() ? quick_yields : 0;; --yields) {
        for (int looks = look_count(op); looks > 0; --looks) {
            if (condition(*this, op, member)) return;
            os::cpu_relax();
        }
        if (yields == 0) break;
        lane_.step_out();
        os::yield_cpu();
        lane_.step_in();
    }
    if (home_ >= 0) take_turns_evenly();
    await_asleep(condition, op, member, for_room);
}

// Ranks that take turns should do so on all CPUs alike: those on the fuller one keep all others waiting, and
// the kernel leaves or puts them there when some sleep.
void Board::take_turns_evenly() {
    if (os::current_cpu() != home_) home_ = os::move_to_cpu(lane_.shm().self());
}

void Board::await_asleep(Condition condition, uint32_t op, int member, bool for_room) {
    if (done_shown_ != done_) publish_done(done_);
    std::atomic<uint64_t>* const sleepers = for_room ? head().room_sleepers : head().sleepers;
    Waiter waiter{this,
                  condition,
                  op,
                  member,
                  &sleepers[rank_ / 64],
                  uint64_t{1} << (rank_ % 64),
                  for_room ? &line(member).awaited : nullptr,
                  0};
    const WaitNote note{[](const void* subject, uint32_t) -> const Operation* {
                            const auto& w = *static_cast<const Waiter*>(subject);
                            return &const_cast<Board*>(w.board)->shown(w.op, w.member, w.sleeps > 1);
                        },
                        &waiter,
                        1,
                        number_,
                        last_look,
                        &waiter};
    const auto is_broken = [this] {
        if (lane_.faulty() && !broken_) broken_ = lane_.broken(shown_.context) != Err::success;
        return broken_;
    };
    wait_until(
        lane_, [&] { return condition(*this, op, member) || is_broken(); }, note);
    if (waiter.sleeps > 0) waiter.sleepers->fetch_and(~waiter.bit, std::memory_order_relaxed);
}

// What a report shows. Looking for a member that has not come costs a line each: only for who waits long.
const Operation& Board::shown(uint32_t op, int member, bool search) {
    for (int r = 0; search && member < 0 && r < size_; ++r)
        if (r != rank_ && !reached(mark(op, r).load(std::memory_order_relaxed), op)) member = r;
    shown_.peer = shown_.source = member >= 0 ? in_whole_.world(member) : any_source;
    shown_.world_peer =
        member >= 0 ? lane_.shm().segment().world_rank(peers_[static_cast<size_t>(member)]) : -1;
    return shown_;
}

} // namespace zipmpi::proto::coll
