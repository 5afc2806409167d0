// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/coll_buffer.hpp"

#include "os/affinity.hpp"
#include "os/clock.hpp"
#include "proto/coll/shm/coll_memory.hpp"

#include <bit>
#include <utility>

namespace zipmpi::proto::coll {
namespace {

// Operation numbers wrap around.
bool has_reached(uint32_t value, uint32_t op) { return static_cast<int32_t>(value - op) >= 0; }

// Polls before calling the progress engine: less time than a few cache-line transfers.
constexpr int default_spins = 200;
// Polls when oversubscribed, if the awaited members may be on other CPUs: about the time of a yield.
constexpr int oversubscribed_spins = 30;
// Yields before calling the progress engine.
constexpr int quick_yields = 2;
// Most members per CPU for which the progress of members on the same CPU is tracked.
constexpr uint32_t most_sharing = 4;

struct CollWait {
    const CollBuffer* buffer;
    bool (*condition)(const CollBuffer& buffer, uint32_t op, int member);
    uint32_t op;
    int member;
    std::atomic<uint64_t>* sleepers; // word with the sleeper bit of this member
    uint64_t bit;
    std::atomic<uint32_t>* awaited; // when waiting for a bank: flag of the awaited member
    uint32_t sleep_count;
};

// seq_cst, as are the store of the awaited value and the load of the sleeper bits after it: either that load
// sees this sleeper, or this check sees the store.
bool final_check(void* waiter) {
    auto& w = *static_cast<CollWait*>(waiter);
    ++w.sleep_count;
    w.sleepers->fetch_or(w.bit, std::memory_order_seq_cst);
    if (w.awaited != nullptr) w.awaited->store(1, std::memory_order_seq_cst);
    return w.condition(*w.buffer, w.op, w.member);
}

} // namespace

CollBuffer::CollBuffer(const Team& team, const wire::CollBufferGeometry& geometry, uint64_t offset,
                       bool use_flags)
    : engine_(*team.engine)
    , memory_(engine_.shm().segment().coll_memory(offset))
    , geometry_(geometry)
    , offset_(offset)
    , rank_(team.rank)
    , size_(team.size)
    , uses_flags_(use_flags)
    , parent_ranks_(team.parent_ranks)
    , cpus_(engine_.shm().segment().header().usable_cpus.load(std::memory_order_relaxed)) {
    for (int r = 0; r < size_; ++r)
        peers_.push_back(static_cast<transport::Peer>(engine_.shm().peer_of(team.map.world(r))));
    wait_operation_ = make_recv(team, nullptr, 0, rank_, 0);
    wait_operation_.context = team.context + 1;
    const uint32_t all = engine_.shm().segment().local_ranks();
    if (static_cast<uint32_t>(size_) != all || !engine_.oversubscribed()) return;
    home_cpu_ = os::migrate_to_cpu(engine_.shm().self());
    for (int r = 0; r < size_ && all <= most_sharing * cpus_; ++r)
        if (r != rank_ && (peer(r) - engine_.shm().self()) % cpus_ == 0) cpu_sharers_.push_back(r);
}

CollBuffer::~CollBuffer() {
    if (head().members.value.fetch_sub(1, std::memory_order_acq_rel) == 1)
        free_coll_memory(engine_.shm().segment(), offset_, geometry_.total_bytes());
}

uint32_t CollBuffer::begin(bool open, const CollSignature& call, uint32_t late) {
    sequence_ = call.sequence;
    signature_ = call.encoded;
    const uint32_t op = ++op_;
    const uint32_t through = op - 1 - late;
    done_ = through;
    if (open && through - done_published_ > max_publish_lag()) publish_done(through);
    if (!has_reached(all_done_ + geometry_.depth, op)) wait_for_bank(op - geometry_.depth);
    slot_head(op, rank_).signature.store(signature_, std::memory_order_relaxed);
    if (!cpu_sharers_.empty()) member_state(rank_).begun.store(op, std::memory_order_relaxed);
    return op;
}

void CollBuffer::record_mismatch(int member, uint32_t what) {
    mismatched_member_ = member;
    mismatched_signature_ = what;
}

void CollBuffer::check_signature(uint32_t op, int member) {
    const uint32_t what = slot_head(op, member).signature.load(std::memory_order_relaxed);
    if (what != signature_) [[unlikely]]
        record_mismatch(member, what);
}

// If signatures differ, at least one member differs from the releasing one.
void CollBuffer::check_released_signature(uint32_t op) {
    const uint32_t what = head().released[op % geometry_.depth].signature.load(std::memory_order_relaxed);
    if (what != signature_) [[unlikely]]
        record_mismatch(find_mismatch(op), what);
}

int CollBuffer::find_mismatch(uint32_t op) const {
    for (int r = 0; r < size_; ++r)
        if (slot_head(op, r).signature.load(std::memory_order_relaxed) != signature_) return r;
    return rank_;
}

Err CollBuffer::result() {
    if (failed_) [[unlikely]] {
        const Err why = engine_.comm_failure(wait_operation_.context);
        return why != Err::success ? why
                                   : fail(Err::proc_failed, "see the output of the launcher for the cause",
                                          "a rank that takes part in this collective has failed");
    }
    if (mismatched_member_ < 0) return Err::success;
    const int other = parent_ranks_.world(std::exchange(mismatched_member_, -1));
    const uint32_t sent = mismatched_signature_ & CollSignature::max_bytes;
    const uint32_t expected = signature_ & CollSignature::max_bytes;
    constexpr const char* fix =
        "call the same collective with the same count and datatype on all ranks of the communicator";
    if (sent == expected)
        return fail(Err::not_same, fix, "rank %d called a different collective or passed a different root",
                    other);
    return fail(sent > expected ? Err::truncate : Err::not_same, fix,
                "rank %d has sent %u bytes in this collective, this rank expects %u", other, sent, expected);
}

// Waits for one member at a time, from the last rank down; the others usually arrive in the meantime.
void CollBuffer::wait_for_bank(uint32_t op) {
    const Condition through = [](const CollBuffer& b, uint32_t until, int member) {
        // pairs with publish_done(): the member has finished reading
        return has_reached(b.member_state(member).done.load(std::memory_order_seq_cst), until);
    };
    for (int r = size_ - 1; r >= 0; --r)
        if (r != rank_ && !through(*this, op, r)) wait_for(through, op, r, true);
    all_done_ = op;
}

void CollBuffer::publish_done(uint32_t op) {
    done_published_ = op;
    wire::CollBufferMember& own = member_state(rank_);
    own.done.store(op, std::memory_order_seq_cst);
    if (own.awaited.load(std::memory_order_seq_cst) == 0) return;
    // before the sleeper bits are read: a later sleeper sets it again
    own.awaited.store(0, std::memory_order_seq_cst);
    wake_all(head().bank_sleepers);
}

void CollBuffer::mark_filled(uint32_t op, int member) {
    flag(op, member).store(op, std::memory_order_release); // pairs with wait_filled()
}

void CollBuffer::set_flag_for(uint32_t op, int member) {
    flag(op, member).store(op, std::memory_order_seq_cst); // pairs with wait_filled()
    wake_all(head().sleepers);
}

void CollBuffer::wait_flag(uint32_t op, int member) { wait_filled(op, member, member); }

void CollBuffer::wait_filled(uint32_t op, int member, int by) {
    wait_for([](const CollBuffer& b, uint32_t o,
                int m) { return has_reached(b.flag(o, m).load(std::memory_order_acquire), o); },
             op, member);
    check_signature(op, by);
}

bool CollBuffer::arrive(uint32_t op) {
    uint32_t& due = expected_arrivals_[op % geometry_.depth];
    due += static_cast<uint32_t>(size_);
    flag(op, rank_).store(op, std::memory_order_relaxed); // for hang reports
    // Pairs with itself and wait_arrivals(): the last member sees the data of all.
    not_arrived_ =
        due - 1 - head().arrived[op % geometry_.depth].value.fetch_add(1, std::memory_order_seq_cst);
    return not_arrived_ == 0;
}

void CollBuffer::wait_arrivals(uint32_t op) {
    wait_for(
        [](const CollBuffer& b, uint32_t o, int) {
            const uint32_t bank = o % b.geometry_.depth;
            return b.head().arrived[bank].value.load(std::memory_order_seq_cst) == b.expected_arrivals_[bank];
        },
        op, -1);
}

void CollBuffer::release(uint32_t op) {
    auto& released = head().released[op % geometry_.depth];
    released.signature.store(signature_, std::memory_order_relaxed);
    released.value.store(op, std::memory_order_seq_cst);
    wake_all(head().sleepers);
}

void CollBuffer::wait_release(uint32_t op) {
    wait_for(
        [](const CollBuffer& b, uint32_t o, int) { // pairs with release()
            const uint32_t now =
                b.head().released[o % b.geometry_.depth].value.load(std::memory_order_seq_cst);
            return has_reached(now, o);
        },
        op, -1);
    check_released_signature(op);
}

void CollBuffer::sync(uint32_t op, uint32_t late) {
    if (uses_flags_) {
        set_flag(op);
        for (int r = 0; r < size_; ++r)
            if (r != rank_) wait_flag(op, r);
    } else if (arrive(op)) {
        release(op);
    } else {
        wait_release(op);
    }
    set_all_arrived(op, late); // an arrived member has finished all earlier operations
}

void CollBuffer::arrive_optional(uint32_t op, bool waits) {
    if (uses_flags_) {
        set_flag(op);
        for (int r = 0; waits && r < size_; ++r)
            if (r != rank_) wait_flag(op, r);
    } else if (arrive(op)) {
        wake_all(head().sleepers);
    } else if (waits) {
        wait_arrivals(op);
    }
    if (!waits) return;
    set_all_arrived(op);
    if (!uses_flags_) check_signature(op, (rank_ + 1) % size_);
}

void CollBuffer::wake_all(std::atomic<uint64_t>* sleepers) {
    for (int first = 0; first < size_; first += 64) {
        auto& word = sleepers[first / 64];
        if (word.load(std::memory_order_seq_cst) == 0) continue;
        uint64_t bits = word.exchange(0, std::memory_order_seq_cst);
        for (; bits != 0; bits &= bits - 1) {
            const int r = first + std::countr_zero(bits);
            if (r < size_ && r != rank_) engine_.shm().wake_peer(peers_[static_cast<size_t>(r)]);
        }
    }
}

// When oversubscribed: yields immediately if a member on this CPU has not reached the operation. Otherwise
// the awaited members are on other CPUs and may be running, so spinning can pay off.
int CollBuffer::spin_count(uint32_t op) {
    if (!engine_.oversubscribed()) return default_spins;
    for (const int other : cpu_sharers_)
        if (!has_reached(member_state(other).begun.load(std::memory_order_relaxed), op)) return 1;
    const bool few = std::exchange(not_arrived_, UINT32_MAX) < cpus_;
    return few || !cpu_sharers_.empty() ? oversubscribed_spins : 1;
}

void CollBuffer::wait_for(Condition condition, uint32_t op, int member, bool for_bank) {
    for (int yields = engine_.oversubscribed() ? quick_yields : 0;; --yields) {
        for (int spins = spin_count(op); spins > 0; --spins) {
            if (condition(*this, op, member)) return;
            os::cpu_relax();
        }
        if (yields == 0) break;
        engine_.unlock_for_wait();
        os::yield_cpu();
        engine_.relock();
    }
    if (home_cpu_ >= 0) spread_over_cpus();
    wait_sleeping(condition, op, member, for_bank);
}

// Keeps oversubscribed ranks evenly distributed over the CPUs: ranks on a fuller CPU delay all others, and
// the kernel scheduler moves ranks there while others sleep.
void CollBuffer::spread_over_cpus() {
    if (os::current_cpu() != home_cpu_) home_cpu_ = os::migrate_to_cpu(engine_.shm().self());
}

void CollBuffer::wait_sleeping(Condition condition, uint32_t op, int member, bool for_bank) {
    if (done_published_ != done_) publish_done(done_);
    std::atomic<uint64_t>* const sleepers = for_bank ? head().bank_sleepers : head().sleepers;
    CollWait waiter{this,
                    condition,
                    op,
                    member,
                    &sleepers[rank_ / 64],
                    uint64_t{1} << (rank_ % 64),
                    for_bank ? &member_state(member).awaited : nullptr,
                    0};
    const WaitInfo note{[](const void* subject, uint32_t) -> const Operation* {
                            const auto& w = *static_cast<const CollWait*>(subject);
                            return &const_cast<CollBuffer*>(w.buffer)->update_wait_operation(
                                w.op, w.member, w.sleep_count > 1);
                        },
                        &waiter,
                        1,
                        sequence_,
                        final_check,
                        &waiter};
    const auto is_broken = [this] {
        if (engine_.has_faults() && !failed_)
            failed_ = engine_.comm_failure(wait_operation_.context) != Err::success;
        return failed_;
    };
    wait_until(
        engine_, [&] { return condition(*this, op, member) || is_broken(); }, note);
    if (waiter.sleep_count > 0) waiter.sleepers->fetch_and(~waiter.bit, std::memory_order_relaxed);
}

// The operation shown in reports. Searching for a missing member costs a cache-line transfer per member, so
// it is done only in long waits.
const Operation& CollBuffer::update_wait_operation(uint32_t op, int member, bool search) {
    for (int r = 0; search && member < 0 && r < size_; ++r)
        if (r != rank_ && !has_reached(flag(op, r).load(std::memory_order_relaxed), op)) member = r;
    wait_operation_.peer = wait_operation_.source = member >= 0 ? parent_ranks_.world(member) : any_source;
    wait_operation_.world_peer =
        member >= 0 ? engine_.shm().segment().world_rank(peers_[static_cast<size_t>(member)]) : -1;
    return wait_operation_;
}

} // namespace zipmpi::proto::coll
