// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The fence. Where everything is complete when its call returns, a barrier is all. Over several hosts there
// are two ways:
//
//   acknowledged  wait until all targets have done what went there, then a barrier
//   counted       tell everybody by a reduce-scatter how many batches there were for it, and wait for that
//                 many: no answers, and no way back. Who is through early may go on: its batches carry the
//                 number of fences and wait at those that are behind. Members on one node, who need no
//                 batches to reach each other, meet at the end.
#include "base/param.hpp"
#include "proto/coll/coll.hpp"
#include "proto/rma/messages.hpp"
#include "proto/rma/on_device.hpp"

namespace zipmpi::proto::rma {
namespace {

Param<int64_t> counted_members{"rma.counted_fence",
                               1024,
                               {0, 1 << 20},
                               Unit::none,
                               Level::tuner,
                               Scope::all_equal,
                               "a fence of a window over several hosts with at most so many members counts "
                               "messages instead of acknowledging them"};

void add_counts(const void* in, void* inout, int64_t count) {
    const auto* const a = static_cast<const uint32_t*>(in);
    auto* const b = static_cast<uint32_t*>(inout);
    for (int64_t i = 0; i < count; ++i) b[i] += a[i];
}

} // namespace

Err Window::fence() {
    // What a device does at a target cannot be held back until the target has passed the fence.
    const bool holds_back = on_device_ == nullptr || !on_device_->moves;
    if (spans_ && holds_back && team_.size <= counted_members.get()) return fence_by_counts();
    flush_all();
    return coll::barrier(team_);
}

Err Window::fence_by_counts() {
    messages_->push_all(false);
    std::vector<uint32_t> counts(static_cast<size_t>(team_.size));
    messages_->count_batches(counts.data());
    uint32_t expected = 0;
    coll::Schedule s(team_);
    s.use({add_counts, team_.size, sizeof(uint32_t)});
    coll::reduce_scatter_block(s, team_, counts.data(), &expected, 1);
    if (const Err e = s.run(); e != Err::success) return e;
    await(
        [](const Window& w, int64_t n) { return w.messages_->served() >= n && w.messages_->fetches() == 0; },
        expected, -1);
    messages_->next_epoch(expected);
    meet_on_node();
    return Err::success;
}

void Window::meet_on_node() {
    members_[team_.rank].fenced.store(++fences_, std::memory_order_seq_cst);
    for (int r = 0; r < team_.size; ++r)
        if (r != team_.rank && !peek(r).remote)
            team_.lane->shm().wake_if_asleep(
                static_cast<transport::Peer>(team_.lane->shm().reach(team_.map.world(r))));
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
