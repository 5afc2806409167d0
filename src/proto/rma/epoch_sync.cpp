// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/epoch_sync.hpp"

#include "base/param.hpp"
#include "proto/coll/coll.hpp"
#include "proto/rma/am_path.hpp"
#include "proto/rma/pending_operations.hpp"
#include "proto/rma/rdma_notices.hpp"
#include "proto/rma/window_waiter.hpp"

namespace zipmpi::proto::rma {
namespace {

Param<int64_t> counted_members{
    "rma.fence_count_max_ranks",
    1024,
    {0, 1 << 20},
    Unit::none,
    Level::tuner,
    Scope::job_wide,
    "largest number of ranks of a multi-host window whose fence counts messages instead of acknowledging "
    "them; not used with RDMA"};

// A notification saves the round trip of a flush, one step of 2 + log2 P; its reduce-scatter takes P - 1
// messages of each rank.
Param<int64_t> notified_members{
    "rma.fence_notify_max_ranks",
    8,
    {0, 1 << 20},
    Unit::none,
    Level::tuner,
    Scope::job_wide,
    "largest number of ranks of an RDMA window whose fence notifies the targets of "
    "puts instead of waiting for acknowledgments"};

void add_counts(const void* in, void* inout, int64_t count) {
    const auto* const a = static_cast<const uint32_t*>(in);
    auto* const b = static_cast<uint32_t*>(inout);
    for (int64_t i = 0; i < count; ++i) b[i] += a[i];
}

} // namespace

Err EpochSync::fence() {
    if (am_ != nullptr) [[unlikely]]
        return complete_and_fence();
    return coll::barrier(targets_.team());
}

EpochSync::FenceMethod EpochSync::fence_method() const {
    if (am_ == nullptr) return FenceMethod::barrier;
    using Wanted = WindowPolicy::Fence;
    const bool wants_notices =
        wanted_ == Wanted::notified ||
        (wanted_ == Wanted::automatic && targets_.team().size <= notified_members.get());
    if (notices_ != nullptr && wants_notices) return FenceMethod::notified;
    const bool wants_count = wanted_ == Wanted::counted ||
                             (wanted_ == Wanted::automatic && targets_.team().size <= counted_members.get());
    return can_count_ && wants_count ? FenceMethod::counted : FenceMethod::acknowledged;
}

Err EpochSync::complete_and_fence() {
    const FenceMethod method = fence_method();
    if (method == FenceMethod::counted) return fence_by_counts();
    if (method == FenceMethod::notified) return fence_by_notices();
    pending_.flush_all();
    return coll::barrier(targets_.team());
}

void EpochSync::begin_counting(coll::Collective& c, std::vector<uint32_t>& counts, Expected& expected) {
    Team& team = targets_.team();
    const bool notifies = fence_method() == FenceMethod::notified;
    const size_t numbers = notifies ? 2 : 1; // per rank, as in Expected
    am_->origin().send_all_batches();
    counts.assign(static_cast<size_t>(team.size) * numbers, 0);
    am_->origin().count_batches(counts.data(), numbers);
    if (notifies)
        for (const int rank : notices_->begin()) ++counts[static_cast<size_t>(rank) * numbers + 1];
    c.schedule().set_op({add_counts, static_cast<int64_t>(counts.size()), sizeof(uint32_t)});
    coll::reduce_scatter_block(c, team, counts.data(), &expected, static_cast<int64_t>(numbers));
}

bool EpochSync::has_received(const Expected& expected) const {
    if (am_->target().served() < expected.batches || am_->origin().fetches() != 0) return false;
    return notices_ == nullptr ||
           (notices_->have_arrived(expected.notices) && notices_->are_results_complete());
}

uint32_t EpochSync::pass_fence(const Expected& expected) {
    const Team& team = targets_.team();
    am_->target().next_epoch(expected.batches);
    if (notices_ != nullptr) notices_->consume(expected.notices);
    targets_.own_member().fenced.store(++fences_, std::memory_order_seq_cst);
    for (const int r : targets_.local().ranks())
        if (r != team.rank) targets_.wake(r);
    return fences_;
}

Err EpochSync::fence_by_counts() {
    coll::Collective c(targets_.team());
    std::vector<uint32_t> counts;
    Expected expected;
    begin_counting(c, counts, expected);
    if (const Err e = c.run(); e != Err::success) return e;
    if (!waiter_.await([&] { return has_received(expected); }, -1)) return waiter_.failure_of(-1);
    waiter_.await([this, fences = pass_fence(expected)] { return is_node_fenced(fences); }, -1);
    return Err::success;
}

Err EpochSync::fence_by_notices() {
    coll::Collective c(targets_.team());
    std::vector<uint32_t> counts;
    Expected expected;
    begin_counting(c, counts, expected);
    Err e = c.run();
    if (e == Err::success) {
        // All members have issued their operations, which raise no event here.
        const RdmaContext::ArrivalWait arrivals(notices_->context());
        if (!waiter_.await([&] { return has_received(expected); }, -1)) e = waiter_.failure_of(-1);
    }
    if (e == Err::success) {
        pass_fence(expected);
        e = coll::barrier(targets_.team());
    }
    pending_.flush_rdma_all(); // has ended meanwhile, unless a member has failed
    return e;
}

bool EpochSync::is_node_fenced(uint32_t fences) const {
    for (const int r : targets_.local().ranks()) {
        const uint32_t there = targets_.member(r).fenced.load(std::memory_order_seq_cst);
        if (static_cast<int32_t>(there - fences) < 0) return false;
    }
    return true;
}

void EpochSync::post_to(int origin) {
    if (targets_.is_remote(origin)) return am_->messenger().send_post(origin);
    const int own_rank = targets_.team().rank;
    PostFlags(targets_, origin).set(own_rank);
    if (origin != own_rank) targets_.wake(origin);
}

bool EpochSync::await_post(int target) {
    const PostFlags posted(targets_, targets_.team().rank);
    if (!waiter_.await([&] { return posted.is_set(target); }, target)) return false;
    posted.clear(target);
    return true;
}

void EpochSync::complete_to(const std::vector<int>& targets) {
    pending_.flush_rdma(targets);
    for (const int target : targets) notify_complete(target);
}

void EpochSync::notify_complete(int target) {
    if (targets_.is_remote(target)) {
        TargetQueue& queue = am_->origin().queue_to(target);
        am_->origin().add(queue, {wire::RmaKind::complete});
        return am_->origin().send_batch(queue, AmOrigin::Ack::none);
    }
    pending_.flush(target);
    targets_.member(target).completed.fetch_add(1, std::memory_order_seq_cst);
    if (target != targets_.team().rank) targets_.wake(target);
}

Err EpochSync::failure_of(const std::vector<int>& origins) const {
    for (const int origin : origins)
        if (const Err e = waiter_.failure_of(origin); e != Err::success) return e;
    return Err::success;
}

bool EpochSync::await_completes(const std::vector<int>& origins) {
    const auto count = static_cast<uint32_t>(origins.size());
    if (!waiter_.await([this, count] { return all_completed(count); }, -1,
                       [this, &origins] { return failure_of(origins); }))
        return false;
    consume_completes(count);
    return true;
}

} // namespace zipmpi::proto::rma
