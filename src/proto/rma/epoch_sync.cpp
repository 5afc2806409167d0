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

Err EpochSync::complete_and_fence() {
    Team& team = targets_.team();
    if (can_count_ && team.size <= counted_members.get()) return fence_by_counts();
    pending_.flush_all();
    return coll::barrier(team);
}

Err EpochSync::fence_by_counts() {
    Team& team = targets_.team();
    AmOrigin& origin = am_->origin();
    AmTarget& target = am_->target();
    origin.send_all_batches();
    std::vector<uint32_t> counts(static_cast<size_t>(team.size));
    origin.count_batches(counts.data());
    uint32_t expected = 0;
    coll::Collective c(team);
    c.schedule().set_op({add_counts, team.size, sizeof(uint32_t)});
    coll::reduce_scatter_block(c, team, counts.data(), &expected, 1);
    if (const Err e = c.run(); e != Err::success) return e;
    if (!waiter_.await([&] { return target.served() >= expected && origin.fetches() == 0; }, -1))
        return waiter_.failure_of(-1);
    target.next_epoch(expected);
    sync_node_fence();
    return Err::success;
}

void EpochSync::sync_node_fence() {
    const Team& team = targets_.team();
    targets_.own_member().fenced.store(++fences_, std::memory_order_seq_cst);
    for (int r = 0; r < team.size; ++r)
        if (r != team.rank && !targets_.peek(r).remote) targets_.wake(r);
    waiter_.await([this, fences = fences_] { return is_node_fenced(fences); }, -1);
}

// All members on this node have passed the fence.
bool EpochSync::is_node_fenced(uint32_t fences) const {
    for (int r = 0; r < targets_.team().size; ++r) {
        const uint32_t there = targets_.member(r).fenced.load(std::memory_order_seq_cst);
        if (!targets_.peek(r).remote && static_cast<int32_t>(there - fences) < 0) return false;
    }
    return true;
}

void EpochSync::post_to(int origin) {
    if (targets_.peek(origin).remote) return am_->messenger().send_post(origin);
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

void EpochSync::complete_to(int target) {
    if (targets_.peek(target).remote) {
        pending_.flush_rdma(target);
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
