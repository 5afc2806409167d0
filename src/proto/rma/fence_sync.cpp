// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/fence_sync.hpp"

#include "proto/coll/coll.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/rma/am_path.hpp"
#include "proto/rma/window_waiter.hpp"

#include <algorithm>

namespace zipmpi::proto::rma {

FenceSync::FenceSync(const TargetTable& targets, EpochSync& epochs, const WindowWaiter& waiter,
                     PendingOperations& pending)
    : NonblockingSync(*targets.team().engine)
    , targets_(targets)
    , epochs_(epochs)
    , waiter_(waiter)
    , pending_(pending) {}

void FenceSync::begin() {
    using Method = EpochSync::FenceMethod;
    const Method method = epochs_.fence_method();
    if (method == Method::barrier) return begin_barrier();
    if (method == Method::acknowledged) {
        stage_ = Stage::flushing;
        for (int r = 0; r < targets_.team().size; ++r) marks_.push_back(pending_.begin_flush(r));
        return;
    }
    notified_ = method == Method::notified;
    stage_ = Stage::counting;
    collective_.emplace(targets_.team(), coll::Collective::Form::detached);
    epochs_.begin_counting(*collective_, counts_, expected_);
    collective_->start();
}

void FenceSync::begin_barrier() {
    stage_ = Stage::barrier;
    collective_.emplace(targets_.team(), coll::Collective::Form::detached);
    coll::barrier(*collective_, targets_.team());
    collective_->start();
}

bool FenceSync::is_stage_over() {
    const auto failed = [this] { return waiter_.failure_of(-1) != Err::success; };
    switch (stage_) {
    case Stage::flushing:
        return pending_.is_flushed(marks_);
    case Stage::receiving:
        return epochs_.has_received(expected_) || failed();
    case Stage::leaving:
        return epochs_.is_node_fenced(number_) || failed();
    case Stage::finishing:
        return epochs_.notices()->are_operations_complete();
    default:
        return collective_->done();
    }
}

bool FenceSync::enter(Stage stage, Err error) {
    stage_ = stage;
    set_error(error);
    return error == Err::success;
}

bool FenceSync::next_stage() {
    switch (stage_) {
    case Stage::flushing:
        begin_barrier();
        return true;
    case Stage::counting:
        if (notified_) arrivals_.emplace(epochs_.notices()->context());
        return enter(Stage::receiving, collective_->error());
    case Stage::receiving:
        if (!epochs_.has_received(expected_)) return enter(Stage::receiving, waiter_.failure_of(-1));
        number_ = epochs_.pass_fence(expected_);
        arrivals_.reset();
        if (notified_) {
            begin_barrier();
            return true;
        }
        return enter(Stage::leaving, Err::success);
    case Stage::barrier:
        return enter(Stage::finishing, collective_->error()) && notified_;
    default:
        return false;
    }
}

NeighborFenceSync::NeighborFenceSync(const Team& team, AmPath* am, const WindowWaiter& waiter,
                                     PendingOperations& pending, std::vector<int> neighbors)
    : NonblockingSync(*team.engine)
    , team_(team)
    , am_(am)
    , waiter_(waiter)
    , pending_(pending)
    , neighbors_(std::move(neighbors)) {}

const Operation* NeighborFenceSync::pending_operation() const {
    const auto pending = std::ranges::find_if(messages_, [](const Operation& m) { return !m.done(); });
    return pending != messages_.end() ? &*pending : nullptr;
}

void NeighborFenceSync::begin() {
    for (const int rank : neighbors_) pending_.begin_rdma_flush(rank);
}

bool NeighborFenceSync::is_stage_over() {
    if (notified_) return is_notified();
    return std::ranges::all_of(neighbors_, [this](int rank) { return pending_.is_rdma_flushed(rank); });
}

// Requests of one origin are executed in order, so a notification follows the operations before it.
void NeighborFenceSync::notify() {
    notified_ = true;
    for (const int rank : neighbors_) {
        if (am_ != nullptr) {
            TargetQueue& queue = am_->origin().queue_to(rank);
            am_->origin().add(queue, {wire::RmaKind::notify});
            am_->origin().send_batch(queue, AmOrigin::Ack::none);
        } else {
            messages_.push_back(make_recv(team_, nullptr, 0, rank, AmMessenger::neighbor_tag));
            messages_.push_back(make_send(team_, nullptr, 0, rank, AmMessenger::neighbor_tag));
        }
    }
    for (Operation& m : messages_)
        m.kind == Operation::Kind::recv ? engine().start_recv(m) : engine().start_send(m);
}

bool NeighborFenceSync::is_notified() const {
    if (am_ == nullptr) return std::ranges::all_of(messages_, [](const Operation& m) { return m.done(); });
    return is_notified_by_all() || waiter_.failure_of(-1) != Err::success;
}

// After the failure of any member a neighbor may have freed the window, and notifies no more.
bool NeighborFenceSync::is_notified_by_all() const {
    return am_->origin().fetches() == 0 &&
           std::ranges::all_of(neighbors_, [this](int rank) { return am_->target().is_notified_by(rank); });
}

bool NeighborFenceSync::next_stage() {
    if (!notified_) {
        notify();
        return true;
    }
    for (const Operation& m : messages_)
        if (m.error != Err::success) set_error(m.error);
    if (am_ == nullptr) return false;
    if (!is_notified_by_all()) set_error(waiter_.failure_of(-1));
    for (const int rank : neighbors_)
        if (am_->target().is_notified_by(rank)) am_->target().consume_notification(rank);
    return false;
}

} // namespace zipmpi::proto::rma
