// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Members of a window: access paths, locks, and waits for other members.
#include "proto/rma/window.hpp"

#include "proto/rma/am_origin.hpp"
#include "proto/rma/assist.hpp"
#include "proto/rma/rdma_path.hpp"

#include <algorithm>

namespace zipmpi::proto::rma {
namespace {

struct WindowWait {
    bool (*condition)(const Window& w, int64_t argument);
    const Window* window;
    int64_t argument;
};

// The rank that makes the condition true does so with a seq_cst store and then checks for sleepers.
bool final_check(void* waiter) {
    const auto& w = *static_cast<const WindowWait*>(waiter);
    return w.condition(*w.window, w.argument);
}

} // namespace

Window::Window(Team& team, uint64_t control, const std::vector<Region>& regions, const OpDecoder& codes)
    : team_(team)
    , control_(control)
    , regions_(regions)
    , op_decoder_(codes)
    , members_(reinterpret_cast<wire::WindowMember*>(team.engine->shm().segment().coll_memory(control)))
    , targets_(static_cast<size_t>(team.size))
    , wait_operation_(make_recv(team, nullptr, 0, team.rank, 0)) {
    bool serves = false;
    for (const Region& r : regions_) serves = serves || (r.arena_offset == 0 && r.size != 0);
    for (int r = 0; r < team.size; ++r) {
        peek(r).remote = !team.engine->on_this_node(team.map.world(r));
        spans_hosts_ = spans_hosts_ || peek(r).remote;
    }
    if ((serves || spans_hosts_) && team.size > 1) am_ = std::make_unique<AmPath>(*this);
    // not across hosts: with this hook, each exit from MPI would signal the progress thread, and each of its
    // sleeps would have to arm the wakeup by ranks of the node
    if (serves && !spans_hosts_ && team.size > 1) assist_ = std::make_unique<TargetAssist>(*this);
}

Window::~Window() {
    for (const Target& t : targets_)
        if (t.mapped != nullptr) transport::shm::Arena::unmap(t.mapped, t.size);
}

void Window::resolve_path(int rank, Target& t) {
    const Region& r = regions_[static_cast<size_t>(rank)];
    ProgressEngine& engine = *team_.engine;
    t.size = r.size;
    t.disp_unit = r.disp_unit;
    if (t.remote)
        return t.set_path(rdma_ != nullptr && rdma_->has_put_get ? AccessPath::rdma : AccessPath::am);
    t.peer = static_cast<transport::Peer>(engine.shm().peer_of(team_.map.world(rank)));
    const bool in_file = r.arena_offset != 0;
    t.cpu_atomics = in_file && (rdma_ == nullptr || rdma_->atomics != RdmaPath::Atomics::network);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): address published by its owner
    t.base = reinterpret_cast<std::byte*>(r.base);
    if (rank == team_.rank || r.size == 0) {
        t.set_path(AccessPath::shared);
    } else if (in_file) {
        const auto owner = static_cast<transport::Peer>(engine.shm().peer_of(team_.map.world(r.owner)));
        t.mapped = engine.arena().map(owner, r.arena_offset, r.size);
        t.base = t.mapped;
        if (t.mapped == nullptr) t.size = 0; // mapping failed: any access is out of range
        t.set_path(AccessPath::shared);
    } else {
        t.set_path(engine.cma().can_read_and_write(t.peer) ? AccessPath::cma : AccessPath::am);
    }
}

bool Window::needs_am() {
    bool found = spans_hosts_;
    for (int r = 0; r < team_.size && am_ != nullptr && !found; ++r)
        found = target(r).path() == AccessPath::am;
    return found;
}

void Window::set_shared_base(int rank, std::byte* base) {
    Target& t = peek(rank);
    const Region& r = regions_[static_cast<size_t>(rank)];
    t.size = r.size;
    t.disp_unit = r.disp_unit;
    t.peer = static_cast<transport::Peer>(team_.engine->shm().peer_of(team_.map.world(rank)));
    t.cpu_atomics = true;
    t.base = base;
    t.set_path(AccessPath::shared);
}

void Window::await(bool (*condition)(const Window& w, int64_t argument), int64_t argument, int wait_peer) {
    if (condition(*this, argument)) return;
    WindowWait waiter{condition, this, argument};
    Operation wait_operation = wait_operation_;
    wait_operation.peer = wait_operation.source = wait_peer;
    wait_operation.world_peer = wait_peer >= 0 ? team_.map.world(wait_peer) : -1;
    WaitInfo note = wait_info_of(wait_operation);
    note.final_check = final_check;
    note.waiter = &waiter;
    wait_until(
        *team_.engine, [&] { return condition(*this, argument); }, note);
}

void Window::flush_requests(int rank) {
    flush_rdma(rank);
    if (rank < 0) {
        am_->send_all_batches(true);
        return await([](const Window& w, int64_t) { return w.am_->all_flushed(); }, 0, -1);
    }
    AmPath::TargetQueue* const l = am_->find_queue(rank);
    if (l == nullptr) return;
    am_->request_ack(*l);
    await([](const Window& w, int64_t r) { return w.am_->find_queue(static_cast<int>(r))->is_flushed(); },
          rank, rank);
}

void Window::await_fetches(int rank) {
    flush_rdma(rank); // RDMA may still access memory of this process
    if (rank < 0) {
        if (am_->fetches() != 0) am_->send_all_batches(false);
        return await([](const Window& w, int64_t) { return w.am_->fetches() == 0; }, 0, -1);
    }
    AmPath::TargetQueue* const l = am_->find_queue(rank);
    if (l == nullptr || l->fetches == 0) return;
    am_->send_batch(*l, false);
    await([](const Window& w, int64_t r) { return w.am_->find_queue(static_cast<int>(r))->fetches == 0; },
          rank, rank);
}

void Window::lock(int rank, bool exclusive) {
    if (peek(rank).remote) {
        if (rdma_ != nullptr && (rdma_->has_put_get || uses_rdma_locks()))
            return lock_remote(rank, exclusive);
        am_->queue_to(rank).lock_state =
            exclusive ? AmPath::LockState::wanted_exclusive : AmPath::LockState::wanted_shared;
        return;
    }
    if (uses_rdma_locks()) return lock_local(rank, exclusive);
    lock_by_cpu(rank, exclusive);
}

void Window::lock_by_cpu(int rank, bool exclusive) {
    TicketRwLock l(members_[rank].lock);
    wait_operation_.peer = wait_operation_.source = rank;
    wait_operation_.world_peer = team_.map.world(rank);
    exclusive ? l.lock_exclusive(*team_.engine, wait_operation_)
              : l.lock_shared(*team_.engine, wait_operation_);
}

void Window::begin_unlock(int rank, bool exclusive) {
    if (peek(rank).remote) {
        AmPath::TargetQueue& l = am_->queue_to(rank);
        const bool holds_lock =
            std::exchange(l.lock_state, AmPath::LockState::none) == AmPath::LockState::requested;
        if (holds_lock) flush_rdma(rank);
        if (holds_lock && uses_rdma_locks()) return unlock_remote(rank, exclusive);
        if (holds_lock) am_->add(l, {wire::RmaKind::unlock});
        return am_->request_ack(l);
    }
    flush(rank);
    if (uses_rdma_locks()) return unlock_local(rank, exclusive);
    unlock_by_cpu(rank, exclusive);
}

void Window::unlock_by_cpu(int rank, bool exclusive) {
    TicketRwLock l(members_[rank].lock);
    exclusive ? l.unlock_exclusive(*team_.engine) : l.unlock_shared(*team_.engine);
}

void Window::unlock(int rank, bool exclusive) {
    begin_unlock(rank, exclusive);
    if (peek(rank).remote) flush_requests(rank);
}

std::atomic<uint64_t>* Window::post_flags(int rank) const {
    const wire::WindowGeometry g{static_cast<uint32_t>(team_.size)};
    return reinterpret_cast<std::atomic<uint64_t>*>(reinterpret_cast<std::byte*>(members_) +
                                                    g.posted_offset(static_cast<uint32_t>(rank)));
}

void Window::post_to(int origin) {
    if (peek(origin).remote) return am_->post_to(origin);
    post_flags(origin)[team_.rank / 64].fetch_or(uint64_t{1} << (team_.rank % 64), std::memory_order_seq_cst);
    if (origin != team_.rank)
        team_.engine->shm().wake_if_asleep(
            static_cast<transport::Peer>(team_.engine->shm().peer_of(team_.map.world(origin))));
}

void Window::record_post(int from) {
    post_flags(team_.rank)[from / 64].fetch_or(uint64_t{1} << (from % 64), std::memory_order_seq_cst);
}

void Window::await_post(int target) {
    await(
        [](const Window& w, int64_t from) {
            return (w.post_flags(w.team_.rank)[from / 64].load(std::memory_order_seq_cst) >> (from % 64) &
                    1) != 0;
        },
        target, target);
    post_flags(team_.rank)[target / 64].fetch_and(~(uint64_t{1} << (target % 64)), std::memory_order_seq_cst);
}

void Window::complete_to(int target) {
    if (peek(target).remote) {
        flush_rdma(target);
        AmPath::TargetQueue& l = am_->queue_to(target);
        am_->add(l, {wire::RmaKind::complete});
        return am_->send_batch(l, false);
    }
    flush(target);
    members_[target].completed.fetch_add(1, std::memory_order_seq_cst);
    if (target != team_.rank)
        team_.engine->shm().wake_if_asleep(
            static_cast<transport::Peer>(team_.engine->shm().peer_of(team_.map.world(target))));
}

void Window::await_completes(uint32_t origins) {
    await([](const Window& w, int64_t n) { return w.all_completed(static_cast<uint32_t>(n)); }, origins, -1);
    consume_completes(origins);
}

bool Window::attach(uint64_t base, uint64_t size) {
    for (const AttachedRange& a : attached_)
        if (base < a.base + a.size && a.base < base + size) return false;
    attached_.push_back({base, size});
    return true;
}

bool Window::detach(uint64_t base) {
    const auto at = std::find_if(attached_.begin(), attached_.end(),
                                 [&](const AttachedRange& a) { return a.base == base; });
    if (at == attached_.end()) return false;
    attached_.erase(at);
    return true;
}

// Adjacent regions count as one.
bool Window::is_attached(uint64_t base, uint64_t size) const {
    while (size > 0) {
        const auto at = std::find_if(attached_.begin(), attached_.end(), [&](const AttachedRange& a) {
            return base >= a.base && base - a.base < a.size;
        });
        if (at == attached_.end()) return false;
        const uint64_t there = std::min(size, at->size - (base - at->base));
        base += there;
        size -= there;
    }
    return true;
}

} // namespace zipmpi::proto::rma
