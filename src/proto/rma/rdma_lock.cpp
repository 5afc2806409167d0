// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Locks of RDMA windows (network_lock.hpp). Local: the target is on this node; remote: on another one.
#include "os/clock.hpp"
#include "proto/rma/am_origin.hpp"
#include "proto/rma/rdma_path.hpp"

#include <algorithm>

namespace zipmpi::proto::rma {
namespace {

// The poll interval grows with the number of earlier tickets.
constexpr uint64_t poll_interval_ns = 2000;
constexpr uint64_t max_poll_interval_ns = 200'000;

} // namespace

bool Window::uses_rdma_locks() const { return rdma_ != nullptr && rdma_->locks != RdmaPath::Locks::cpu; }

void Window::lock_local(int rank, bool exclusive) {
    if (rdma_->locks == RdmaPath::Locks::network) return lock_by_network(rank, exclusive);
    lock_by_cpu(rank, exclusive);
    HybridLockNode node_lock(members_[rank].network_lock);
    node_lock.reset_request_count();
    if (exclusive && node_lock.is_open_to_readers()) release_as_reader(rank);
    auto& member = rdma_->member_keys[static_cast<size_t>(rank)];
    member.held_as =
        node_lock.holds() ? RdmaPath::MemberState::HeldAs::node : RdmaPath::MemberState::HeldAs::network;
    if (member.held_as == RdmaPath::MemberState::HeldAs::network) lock_by_network(rank, exclusive);
}

void Window::unlock_local(int rank, bool exclusive) {
    if (rdma_->locks == RdmaPath::Locks::network) return unlock_by_network(rank, exclusive);
    HybridLockNode node_lock(members_[rank].network_lock);
    const auto& member = rdma_->member_keys[static_cast<size_t>(rank)];
    if (member.held_as == RdmaPath::MemberState::HeldAs::node) {
        if (exclusive && node_lock.has_waiters()) node_lock.yield();
    } else if (!exclusive || !node_lock.try_hold(member.ticket, rdma_->handover_count)) {
        unlock_by_network(rank, exclusive);
    }
    unlock_by_cpu(rank, exclusive);
}

// Exclusive: the node has held the lock as a reader and leaves as one, by an RDMA atomic. Does not wait for
// its completion: the lock cannot be granted to a writer before.
void Window::release_as_reader(int rank) {
    const int endpoint = rdma_endpoint(rank);
    if (endpoint < 0) return;
    RdmaPath& path = *rdma_;
    HybridLockNode(members_[rank].network_lock).clear_node_ticket();
    path.context.device().fetch_add(
        endpoint, 1, &path.discard_word,
        {path.published_keys[static_cast<size_t>(rank)].lock + offsetof(wire::NetworkLock, writers),
         path.member_keys[static_cast<size_t>(rank)].lock.key});
    path.context.mark_busy(endpoint);
    path.context.on_flushed(endpoint).immediate = true; // keeps this rank awake: others wait for it
}

void Window::lock_remote(int rank, bool exclusive) {
    AmPath::TargetQueue& l = am_->queue_to(rank);
    l.lock_state = AmPath::LockState::requested;
    if (!uses_rdma_locks()) {
        am_->add(l, {exclusive ? wire::RmaKind::lock_exclusive : wire::RmaKind::lock_shared});
        return flush_requests(rank);
    }
    auto& member = rdma_->member_keys[static_cast<size_t>(rank)];
    member.held_as = RdmaPath::MemberState::HeldAs::network;
    if (rdma_->locks == RdmaPath::Locks::hybrid && !member.assume_network_lock) {
        if (lock_by_am(rank, exclusive)) {
            member.held_as = RdmaPath::MemberState::HeldAs::am;
            return;
        }
        member.assume_network_lock = true;
    }
    lock_by_network(rank, exclusive);
}

void Window::unlock_remote(int rank, bool exclusive) {
    flush_requests(rank);
    if (rdma_->member_keys[static_cast<size_t>(rank)].held_as != RdmaPath::MemberState::HeldAs::am)
        return unlock_by_network(rank, exclusive);
    AmPath::TargetQueue& l = am_->queue_to(rank);
    am_->add(l, {wire::RmaKind::unlock});
    am_->request_ack(l);
}

// Returns false if the lock must be acquired on the network.
bool Window::lock_by_am(int rank, bool exclusive) {
    struct LockReply : FetchOp {
        bool received = false;
    } reply;
    uint64_t got = 0;
    reply.result = {reinterpret_cast<std::byte*>(&got), nullptr, 0, sizeof got};
    reply.on_done = [](FetchOp& e) { static_cast<LockReply&>(e).received = true; };
    AmPath::AmRequest request{exclusive ? wire::RmaKind::lock_exclusive : wire::RmaKind::lock_shared};
    request.fetch = &reply;
    request.fetched_bytes = sizeof got;
    AmPath::TargetQueue& l = am_->queue_to(rank);
    am_->add(l, request);
    am_->send_batch(l, true);
    reply.complete_part();
    await(
        [](const Window&, int64_t address) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): address of `reply`
            return reinterpret_cast<const LockReply*>(address)->received;
        },
        reinterpret_cast<int64_t>(&reply), rank);
    return got != 0;
}

void Window::lock_by_network(int rank, bool exclusive) {
    const int endpoint = rdma_endpoint(rank);
    if (endpoint < 0) {
        failure_ = no_connection_error(rank);
        return;
    }
    RdmaPath& path = *rdma_;
    auto& device = path.context.device();
    auto& member = path.member_keys[static_cast<size_t>(rank)];
    const bool is_local = !peek(rank).remote;
    wire::NetworkLock& lock_words = members_[rank].network_lock; // valid for a local target
    const uint64_t base = path.published_keys[static_cast<size_t>(rank)].lock;
    const auto finish = [&] {
        path.context.mark_busy(endpoint);
        flush_rdma(rank);
    };
    RemoteLockState counts{};
    device.fetch_add(endpoint, 1, &member.ticket, {base, member.lock.key});
    device.get(endpoint, &counts, sizeof counts, {base, member.lock.key});
    finish();
    bool requested = is_local || path.locks != RdmaPath::Locks::hybrid;
    while (!counts.can_enter(member.ticket, exclusive) && !device.failed(endpoint)) {
        if (!requested && counts.is_node_held()) { // wrong assumption; the next lock() uses an active message
            requested = true;
            member.assume_network_lock = false;
            am_->send_out_of_band(rank, exclusive ? wire::RmaKind::yield_lock : wire::RmaKind::admit_readers);
        }
        const uint64_t until = os::now_ns() + std::min(poll_interval_ns * counts.tickets_ahead(member.ticket),
                                                       max_poll_interval_ns);
        path.context.wait_until([&] { return os::now_ns() >= until; });
        if (is_local) {
            counts = read_lock_state(lock_words);
        } else {
            device.get(endpoint, &counts, sizeof counts, {base, member.lock.key});
            finish();
        }
    }
    if (exclusive) return;
    const uint64_t next = member.ticket + 1;
    device.put(endpoint, &next, sizeof next, {base + offsetof(wire::NetworkLock, readers), member.lock.key});
    finish();
}

void Window::unlock_by_network(int rank, bool exclusive) {
    const int endpoint = rdma_endpoint(rank);
    if (endpoint < 0) return;
    RdmaPath& path = *rdma_;
    const auto& member = path.member_keys[static_cast<size_t>(rank)];
    const uint64_t base = path.published_keys[static_cast<size_t>(rank)].lock;
    const uint64_t after[2] = {member.ticket + 1,
                               member.ticket + 1}; // writers, readers: RDMA writes in ascending address order
    if (exclusive)
        path.context.device().put(endpoint, after, sizeof after,
                                  {base + offsetof(wire::NetworkLock, writers), member.lock.key});
    else
        path.context.device().fetch_add(endpoint, 1, &path.discard_word,
                                        {base + offsetof(wire::NetworkLock, writers), member.lock.key});
    path.context.mark_busy(endpoint);
    flush_rdma(rank);
}

} // namespace zipmpi::proto::rma
