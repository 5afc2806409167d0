// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/coll_wait.hpp"

#include "os/affinity.hpp"

#include <utility>

namespace zipmpi::proto::coll {
namespace {

// Polls when oversubscribed, if the awaited members may be on other CPUs: about the time of a yield.
constexpr int oversubscribed_spins = 30;
// Yields before calling the progress engine.
constexpr int quick_yields = 2;
// Most members per CPU for which the progress of members on the same CPU is tracked.
constexpr uint32_t most_sharing = 4;

} // namespace

struct MemberWait::Sleeper {
    MemberWait* owner;
    const CollWait* wait;
    std::atomic<uint64_t>* word; // with the sleeper bit of this member
    uint64_t bit;
    std::atomic<uint32_t>* awaited; // when waiting for a bank: flag of the awaited member
    uint32_t sleep_count;
};

MemberWait::MemberWait(const Team& team, const CollBufferView& view, const CollMembers& members,
                       CommFaults& faults)
    : engine_(*team.engine)
    , view_(view)
    , members_(members)
    , faults_(faults)
    , cpus_(engine_.shm().segment().header().usable_cpus.load(std::memory_order_relaxed))
    , report_(make_recv(team, nullptr, 0, team.rank, 0)) {
    report_.context = team.context + 1;
    const uint32_t all = engine_.shm().segment().local_ranks();
    if (static_cast<uint32_t>(members.count()) != all || !engine_.wait_tuning().oversubscribed_by_node())
        return;
    const transport::Peer self = engine_.shm().self();
    home_cpu_ = os::migrate_to_cpu(self);
    for (int r = 0; r < members.count() && all <= most_sharing * cpus_; ++r)
        if (r != members.self() && (members.peer(r) - self) % cpus_ == 0) cpu_sharers_.push_back(r);
}

// Yields immediately if a member on this CPU has not reached the operation. Otherwise the awaited members are
// on other CPUs and may be running, so spinning can pay off.
int MemberWait::oversubscribed_spin_count(uint32_t op) {
    for (const int other : cpu_sharers_)
        if (!has_reached(view_.member(other).begun.load(std::memory_order_relaxed), op)) return 1;
    const bool few = std::exchange(not_arrived_, UINT32_MAX) < cpus_;
    return few || !cpu_sharers_.empty() ? oversubscribed_spins : 1;
}

bool MemberWait::spin_oversubscribed(AwaitedWord awaited, uint32_t op) {
    for (int yields = quick_yields;; --yields) {
        if (poll(awaited, oversubscribed_spin_count(op))) return true;
        if (yields == 0) return false;
        engine_.engine_lock().unlock_for_wait();
        os::yield_cpu();
        engine_.engine_lock().relock();
    }
}

// Ranks on a fuller CPU delay all others, and the kernel scheduler moves ranks there while others sleep.
void MemberWait::spread_over_cpus() {
    if (os::current_cpu() != home_cpu_) home_cpu_ = os::migrate_to_cpu(engine_.shm().self());
}

// seq_cst, as are the store of the awaited value and the load of the sleeper bits after it: either that load
// sees this sleeper, or this check sees the store.
bool MemberWait::final_check(void* sleeper) {
    auto& s = *static_cast<Sleeper*>(sleeper);
    ++s.sleep_count;
    s.word->fetch_or(s.bit, std::memory_order_seq_cst);
    if (s.awaited != nullptr) s.awaited->store(1, std::memory_order_seq_cst);
    return s.wait->awaited.is_reached();
}

void MemberWait::sleep(const CollWait& w, uint32_t sequence) {
    if (home_cpu_ >= 0) spread_over_cpus();
    const bool for_bank = w.reason == SleepReason::bank;
    std::atomic<uint64_t>* const sleepers = for_bank ? view_.head().bank_sleepers : view_.head().sleepers;
    Sleeper sleeper{this,
                    &w,
                    &sleepers[members_.self() / 64],
                    uint64_t{1} << (members_.self() % 64),
                    for_bank ? &view_.member(w.member).awaited : nullptr,
                    0};
    const WaitInfo info{[](const void* subject, uint32_t) -> const Operation* {
                            const auto& s = *static_cast<const Sleeper*>(subject);
                            return &s.owner->update_report(*s.wait, s.sleep_count > 1);
                        },
                        &sleeper,
                        1,
                        sequence,
                        final_check,
                        &sleeper};
    wait_until(
        engine_, [&] { return w.awaited.is_reached() || faults_.update(); }, info);
    if (sleeper.sleep_count > 0) sleeper.word->fetch_and(~sleeper.bit, std::memory_order_relaxed);
}

// Searching for a missing member costs a cache-line transfer per member, so it is done only in long waits.
const Operation& MemberWait::update_report(const CollWait& w, bool search) {
    int member = w.member;
    for (int r = 0; search && member < 0 && r < members_.count(); ++r)
        if (r != members_.self() &&
            !has_reached(view_.slot_head(w.op, r).seq.load(std::memory_order_relaxed), w.op))
            member = r;
    report_.peer = report_.source = member >= 0 ? members_.rank_of(member) : any_source;
    report_.world_peer = member >= 0 ? members_.world_rank(member) : -1;
    return report_;
}

} // namespace zipmpi::proto::coll
