// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/window.hpp"

#include "proto/rma/am_path.hpp"
#include "proto/rma/fence_sync.hpp"
#include "proto/rma/rdma_notices.hpp"
#include "proto/rma/rdma_path.hpp"

namespace zipmpi::proto::rma {

Window::Window(Team& team, uint64_t control, std::span<const Region> regions, const OpDecoder& decoder,
               const WindowPolicy& policy)
    : policy_(policy)
    , targets_(team, control, regions)
    , waiter_(team, failure_)
    , shared_(targets_)
    , cma_(targets_)
    , locks_(targets_, waiter_, pending_)
    , epochs_(targets_, waiter_, pending_, policy.fence) {
    const bool has_private = targets_.has_private_memory();
    if ((has_private || targets_.spans_hosts()) && team.size > 1) {
        am_ = std::make_unique<AmPath>(targets_, waiter_, failure_, attached_, decoder);
        pending_.use_am(am_->origin());
        locks_.use_am(*am_);
        epochs_.use_am(*am_);
    }
    // not across hosts: with this hook, each exit from MPI would signal the progress thread, and each of its
    // sleeps would have to arm the wakeup by ranks of the node
    if (has_private && !targets_.spans_hosts() && team.size > 1) cma_.start_assist(attached_);
}

Window::~Window() = default;

// Either all members use RDMA or none does.
Err Window::use_rdma(RdmaContext& context) {
    Team& team = targets_.team();
    auto connections = std::make_unique<RdmaConnections>(team, context, am_->messenger(), waiter_, failure_);
    RdmaModes modes;
    if (const Err e = agree_on_rdma(targets_, policy_, connections->keys(), modes); e != Err::success)
        return e;
    if (!modes.usable) return Err::success;
    connections_ = std::move(connections);
    rdma_ = std::make_unique<RdmaPath>(targets_, *connections_, *am_, pending_, failure_, modes.atomics,
                                       policy_.accumulate_order);
    pending_.use_rdma(*connections_);
    am_->use_rdma(*connections_);
    locks_.use_rdma(modes, *connections_, failure_);
    if (modes.put_get) {
        targets_.use_rdma();
        epochs_.acknowledge_fences();
        if (modes.ordered) use_notices();
    }
    if (modes.atomics == RdmaModes::Atomics::network) targets_.forbid_cpu_atomics();
    if (modes.locks == RdmaModes::Locks::hybrid) static_cast<void>(connections_->endpoint(team.rank));
    return Err::success;
}

void Window::use_notices() {
    notices_ = std::make_unique<RdmaNotices>(targets_, *connections_, am_->messenger());
    epochs_.use_notices(*notices_);
    am_->target().use_notices(*notices_);
}

std::unique_ptr<NonblockingSync> Window::make_fence() {
    return std::make_unique<FenceSync>(targets_, epochs_, waiter_, pending_);
}

std::unique_ptr<NonblockingSync> Window::make_neighbor_fence(std::vector<int> neighbors) {
    return std::make_unique<NeighborFenceSync>(targets_.team(), am_.get(), waiter_, pending_,
                                               std::move(neighbors));
}

std::unique_ptr<NonblockingSync> Window::make_flush(std::vector<int> ranks) {
    return std::make_unique<FlushSync>(*targets_.team().engine, pending_, std::move(ranks));
}

std::unique_ptr<NonblockingSync> Window::make_unlock(const std::vector<int>& ranks, LockMode mode) {
    return std::make_unique<UnlockSync>(targets_, locks_, pending_, ranks, mode);
}

void Window::fail_pending() {
    if (am_ != nullptr) am_->origin().fail_pending();
}

bool Window::needs_am() {
    bool found = targets_.spans_hosts();
    for (int r = 0; r < targets_.team().size && am_ != nullptr && !found; ++r)
        found = target(r).path() == AccessPath::am;
    return found;
}

Err Window::put(int rank, const TypedBuffer& here, const TypedBuffer& there, FetchFactory& factory) {
    switch (target(rank).path()) {
    case AccessPath::shared:
        [[likely]] return SharedPath::put(here, there);
    case AccessPath::cma:
        return cma_.put(rank, here, there);
    case AccessPath::rdma:
        return rdma_->put(rank, here, there, factory);
    default:
        return am_->put(rank, here, there);
    }
}

Err Window::get(int rank, const TypedBuffer& here, const TypedBuffer& there, FetchFactory& factory) {
    switch (target(rank).path()) {
    case AccessPath::shared:
        [[likely]] return SharedPath::get(here, there);
    case AccessPath::cma:
        return cma_.get(rank, here, there);
    case AccessPath::rdma:
        return rdma_->get(rank, here, there, factory);
    default:
        return am_->get(rank, here, there, factory);
    }
}

Err Window::accumulate(int rank, const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                       const TypedBuffer& there, FetchFactory& factory) {
    const Target& t = target(rank);
    if (rdma_ != nullptr && rdma_->can_accumulate(rank, c, there))
        return rdma_->accumulate(rank, c, here, result, there, factory);
    switch (t.path()) {
    case AccessPath::shared:
        return shared_.accumulate(rank, c, here, result, there);
    case AccessPath::cma:
        return cma_.accumulate(rank, c, here, result, there);
    default:
        if (rdma_ != nullptr) rdma_->order_accumulates(rank, RdmaPath::AccumulatePath::am);
        return am_->accumulate(rank, c, here, result, there, factory);
    }
}

Err Window::compare_and_swap(int rank, const CompareSwapOp& s, const void* compare, const void* value,
                             void* fetched, std::byte* there, FetchFactory& factory) {
    const Target& t = target(rank);
    if (rdma_ != nullptr && rdma_->can_swap(rank, s, there))
        return rdma_->compare_and_swap(rank, compare, value, fetched, there, factory);
    switch (t.path()) {
    case AccessPath::shared:
        return shared_.compare_and_swap(rank, s, compare, value, fetched, there);
    case AccessPath::cma:
        return cma_.compare_and_swap(rank, s, compare, value, fetched, there);
    default:
        if (rdma_ != nullptr) rdma_->order_accumulates(rank, RdmaPath::AccumulatePath::am);
        return am_->compare_and_swap(rank, s, compare, value, fetched, there, factory);
    }
}

} // namespace zipmpi::proto::rma
