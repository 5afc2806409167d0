// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/epoch_sync.hpp"

#include "base/param.hpp"
#include "proto/coll/coll.hpp"
#include "proto/rma/am_path.hpp"
#include "proto/rma/pending_operations.hpp"
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
    const bool wants_count = wanted_ == Wanted::counted ||
                             (wanted_ == Wanted::automatic && targets_.team().size <= counted_members.get());
    return can_count_ && wants_count ? FenceMethod::counted : FenceMethod::acknowledged;
}

Err EpochSync::complete_and_fence() {
    if (fence_method() == FenceMethod::counted) return fence_by_counts();
    pending_.flush_all();
    return coll::barrier(targets_.team());
}

void EpochSync::begin_counting(coll::Collective& c, std::vector<uint32_t>& counts, uint32_t& expected) {
    Team& team = targets_.team();
    am_->origin().send_all_batches();
    counts.resize(static_cast<size_t>(team.size));
    am_->origin().count_batches(counts.data());
    c.schedule().set_op({add_counts, team.size, sizeof(uint32_t)});
    coll::reduce_scatter_block(c, team, counts.data(), &expected, 1);
}

bool EpochSync::has_received(uint32_t expected) const {
    return am_->target().served() >= expected && am_->origin().fetches() == 0;
}

uint32_t EpochSync::pass_fence(uint32_t expected) {
    const Team& team = targets_.team();
    am_->target().next_epoch(expected);
    targets_.own_member().fenced.store(++fences_, std::memory_order_seq_cst);
    for (const int r : targets_.local().ranks())
        if (r != team.rank) targets_.wake(r);
    return fences_;
}

Err EpochSync::fence_by_counts() {
    coll::Collective c(targets_.team());
    std::vector<uint32_t> counts;
    uint32_t expected = 0;
    begin_counting(c, counts, expected);
    if (const Err e = c.run(); e != Err::success) return e;
    if (!waiter_.await([&] { return has_received(expected); }, -1)) return waiter_.failure_of(-1);
    waiter_.await([this, fences = pass_fence(expected)] { return is_node_fenced(fences); }, -1);
    return Err::success;
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
