// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_Win_fence. A barrier suffices if all operations complete in their call. Between hosts there are two
// methods:
//
//   acknowledged  flush of all targets, then a barrier
//   counted       reduce-scatter of batch counts; each member then waits for the batches sent to it. Needs no
//                 replies. A member that finishes early may continue: its batches carry the fence count and
//                 are deferred at members that are behind. Members of one node, which reach each other
//                 without batches, synchronize at the end.
#include "base/param.hpp"
#include "proto/coll/coll.hpp"
#include "proto/rma/am_origin.hpp"
#include "proto/rma/rdma_path.hpp"

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

Err Window::fence() {
    // RDMA operations cannot be deferred until the target has passed the fence.
    const bool can_defer = rdma_ == nullptr || !rdma_->has_put_get;
    if (spans_hosts_ && can_defer && team_.size <= counted_members.get()) return fence_by_counts();
    flush_all();
    return coll::barrier(team_);
}

Err Window::fence_by_counts() {
    am_->send_all_batches(false);
    std::vector<uint32_t> counts(static_cast<size_t>(team_.size));
    am_->count_batches(counts.data());
    uint32_t expected = 0;
    coll::Schedule s(team_);
    s.set_op({add_counts, team_.size, sizeof(uint32_t)});
    coll::reduce_scatter_block(s, team_, counts.data(), &expected, 1);
    if (const Err e = s.run(); e != Err::success) return e;
    await([](const Window& w, int64_t n) { return w.am_->served() >= n && w.am_->fetches() == 0; }, expected,
          -1);
    am_->next_epoch(expected);
    sync_node_fence();
    return Err::success;
}

void Window::sync_node_fence() {
    members_[team_.rank].fenced.store(++fences_, std::memory_order_seq_cst);
    for (int r = 0; r < team_.size; ++r)
        if (r != team_.rank && !peek(r).remote)
            team_.engine->shm().wake_if_asleep(
                static_cast<transport::Peer>(team_.engine->shm().peer_of(team_.map.world(r))));
    await(
        [](const Window& w, int64_t fences) {
            for (size_t r = 0; r < w.targets_.size(); ++r) {
                const uint32_t there = w.members_[r].fenced.load(std::memory_order_seq_cst);
                if (!w.targets_[r].remote && static_cast<int32_t>(there - static_cast<uint32_t>(fences)) < 0)
                    return false;
            }
            return true;
        },
        fences_, -1);
}

} // namespace zipmpi::proto::rma
