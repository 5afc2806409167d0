// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/rdma_locks.hpp"

#include "os/clock.hpp"
#include "proto/rma/am_origin.hpp"
#include "proto/rma/network_lock.hpp"

#include <algorithm>

namespace zipmpi::proto::rma {
namespace {

// The poll interval grows with the number of earlier tickets.
constexpr uint64_t poll_interval_ns = 2000;
constexpr uint64_t max_poll_interval_ns = 200'000;

// Content of the reply to a lock request: nonzero if the lock is held.
class LockReply final : public FetchOp {
  public:
    LockReply() { result = {reinterpret_cast<std::byte*>(&got_), nullptr, 0, sizeof got_}; }
    [[nodiscard]] bool received() const { return received_; }
    [[nodiscard]] bool got() const { return got_ != 0; }
    static constexpr uint64_t bytes = sizeof(uint64_t);

  private:
    void on_done() override { received_ = true; }

    uint64_t got_ = 0;
    bool received_ = false;
};

} // namespace

RdmaLocks::RdmaLocks(const RdmaModes& modes, const TargetTable& targets, RdmaConnections& connections,
                     AmMessenger& messenger, AmOrigin& am, CpuLocks& cpu, WindowWaiter& waiter,
                     DeferredError& failure)
    : targets_(targets)
    , connections_(connections)
    , messenger_(messenger)
    , am_(am)
    , cpu_(cpu)
    , waiter_(waiter)
    , failure_(failure)
    , hybrid_(modes.locks == RdmaModes::Locks::hybrid)
    , handover_count_(modes.handover_count)
    , members_(static_cast<size_t>(targets.team().size)) {}

bool RdmaLocks::lock_local(int rank, LockMode mode) {
    if (!hybrid_) return lock_by_network(rank, mode);
    if (!cpu_.lock(rank, mode)) return false;
    HybridLockNode node_lock(targets_.member(rank).network_lock);
    node_lock.reset_request_count();
    if (mode == LockMode::exclusive && node_lock.is_open_to_readers()) release_as_reader(rank);
    member(rank).held_as = node_lock.holds() ? MemberLock::HeldAs::node : MemberLock::HeldAs::network;
    return member(rank).held_as != MemberLock::HeldAs::network || lock_by_network(rank, mode);
}

void RdmaLocks::unlock_local(int rank, LockMode mode) {
    if (!hybrid_) return unlock_by_network(rank, mode);
    const bool exclusive = mode == LockMode::exclusive;
    HybridLockNode node_lock(targets_.member(rank).network_lock);
    if (member(rank).held_as == MemberLock::HeldAs::node) {
        if (exclusive && node_lock.has_waiters()) {
            node_lock.yield();
            count_migration();
        }
    } else if (exclusive && node_lock.try_hold(member(rank).ticket, handover_count_)) {
        count_migration();
    } else {
        unlock_by_network(rank, mode);
    }
    cpu_.unlock(rank, mode);
}

void RdmaLocks::count_migration() { targets_.team().engine->counters().add(Counter::lock_migrations); }

void RdmaLocks::release_as_reader(int rank) {
    const int endpoint = connections_.endpoint(rank);
    if (endpoint < 0) return;
    count_migration();
    RdmaContext& context = connections_.context();
    HybridLockNode(targets_.member(rank).network_lock).clear_node_ticket();
    context.device().fetch_add(endpoint, 1, &discard_word_,
                               connections_.keys().lock_word(rank, offsetof(wire::NetworkLock, writers)));
    context.mark_busy(endpoint);
    context.on_flushed(endpoint).immediate = true; // keeps this rank awake: others wait for it
}

bool RdmaLocks::lock_remote(int rank, LockMode mode) {
    MemberLock& l = member(rank);
    l.held_as = MemberLock::HeldAs::network;
    if (hybrid_ && !l.assume_network_lock) {
        if (lock_by_am(rank, mode)) {
            l.held_as = MemberLock::HeldAs::am;
            return true;
        }
        l.assume_network_lock = true;
    }
    return lock_by_network(rank, mode);
}

void RdmaLocks::unlock_remote(int rank, LockMode mode) {
    if (member(rank).held_as != MemberLock::HeldAs::am) return begin_unlock_by_network(rank, mode);
    TargetQueue& queue = am_.queue_to(rank);
    am_.add(queue, {wire::RmaKind::unlock});
    am_.request_ack(queue);
}

// Returns false if the lock must be acquired on the network.
bool RdmaLocks::lock_by_am(int rank, LockMode mode) {
    if (waiter_.failure_of(-1) != Err::success) return false; // no reply may come
    LockReply reply;
    AmRequest request{lock_request(mode)};
    request.fetch = &reply;
    request.fetched_bytes = LockReply::bytes;
    TargetQueue& queue = am_.queue_to(rank);
    am_.add(queue, request);
    am_.send_batch(queue, AmOrigin::Ack::requested);
    reply.complete_part();
    // A failure of any member completes it (AmOrigin::fail_pending).
    waiter_.await([&reply] { return reply.received(); }, rank);
    return reply.got();
}

void RdmaLocks::finish(int rank, int endpoint) {
    connections_.context().mark_busy(endpoint);
    connections_.flush(rank);
}

bool RdmaLocks::lock_by_network(int rank, LockMode mode) {
    const int endpoint = connections_.endpoint(rank);
    if (endpoint < 0) {
        failure_.set(connections_.unreachable_error(rank));
        return false;
    }
    auto& device = connections_.context().device();
    const transport::RemoteAddress words = connections_.keys().lock_word(rank);
    RemoteLockState state{};
    device.fetch_add(endpoint, 1, &member(rank).ticket, words);
    device.get(endpoint, &state, sizeof state, words);
    finish(rank, endpoint);
    if (!await_turn(rank, endpoint, mode, state)) return false;
    if (mode == LockMode::exclusive) return true;
    const uint64_t next = member(rank).ticket + 1;
    device.put(endpoint, &next, sizeof next,
               connections_.keys().lock_word(rank, offsetof(wire::NetworkLock, readers)));
    finish(rank, endpoint);
    return true;
}

bool RdmaLocks::await_turn(int rank, int endpoint, LockMode mode, RemoteLockState state) {
    RdmaContext& context = connections_.context();
    const transport::RemoteAddress words = connections_.keys().lock_word(rank);
    const bool is_local = !targets_.is_remote(rank);
    const uint64_t& ticket = member(rank).ticket;
    bool requested = is_local || !hybrid_;
    while (!state.can_enter(ticket, mode)) {
        if (context.failed(endpoint)) return false; // finish() has set the error
        if (waiter_.failure_of(-1) != Err::success) {
            waiter_.on_lock_failed();
            return false;
        }
        if (!requested && state.is_node_held()) {
            requested = true;
            request_from_node(rank, mode);
        }
        const uint64_t until =
            os::now_ns() + std::min(poll_interval_ns * state.tickets_ahead(ticket), max_poll_interval_ns);
        context.wait_until([&] { return os::now_ns() >= until; });
        if (is_local) {
            state = read_lock_state(targets_.member(rank).network_lock);
        } else {
            context.device().get(endpoint, &state, sizeof state, words);
            finish(rank, endpoint);
        }
    }
    return true;
}

// The assumption was wrong; the next lock() uses an active message.
void RdmaLocks::request_from_node(int rank, LockMode mode) {
    member(rank).assume_network_lock = false;
    messenger_.send_out_of_band(rank, mode == LockMode::exclusive ? wire::RmaKind::yield_lock
                                                                  : wire::RmaKind::admit_readers);
}

void RdmaLocks::unlock_by_network(int rank, LockMode mode) {
    begin_unlock_by_network(rank, mode);
    connections_.flush(rank);
}

void RdmaLocks::begin_unlock_by_network(int rank, LockMode mode) {
    const int endpoint = connections_.endpoint(rank);
    if (endpoint < 0) return;
    auto& device = connections_.context().device();
    const transport::RemoteAddress writers =
        connections_.keys().lock_word(rank, offsetof(wire::NetworkLock, writers));
    const uint64_t after = member(rank).ticket + 1;
    auto& both = member(rank).release_words; // writers, readers: RDMA writes in ascending address order
    both[0] = both[1] = after;
    if (mode == LockMode::exclusive)
        device.put(endpoint, both, sizeof both, writers);
    else
        device.fetch_add(endpoint, 1, &discard_word_, writers);
    connections_.context().mark_busy(endpoint);
}

} // namespace zipmpi::proto::rma
