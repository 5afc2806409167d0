// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Nonblocking RMA synchronization (MPIX_Win_ifence, MPIX_Win_iflush, MPIX_Win_iunlock and others): the calls
// begin it, progress continues it, and their requests complete it. From the call to the completion the epoch
// is neither open nor closed: its targets cannot be accessed, and no other epoch on them can begin.
#include "core/api/p2p.hpp"
#include "core/group/group.hpp"
#include "core/request/request.hpp"
#include "core/runtime_state.hpp"
#include "core/win/access.hpp"
#include "core/win/epoch.hpp"
#include "proto/rma/nonblocking_sync.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace zipmpi::core {
namespace {

using proto::rma::LockMode;
using proto::rma::NonblockingSync;

struct SyncRequest final : CompoundRequest {
    std::unique_ptr<NonblockingSync> sync;

    [[nodiscard]] const proto::Operation* pending_operation() const override {
        return sync->pending_operation();
    }
};

// finish() changes the window when the synchronization is complete, before its request is.
Err start_sync(Win& win, std::unique_ptr<NonblockingSync> sync, std::function<void()> finish,
               Request*& request) {
    request = make_request(nullptr, builtin_type(TypeId::BYTE));
    if (request == nullptr) return request_alloc_error();
    auto compound = std::make_unique<SyncRequest>();
    NonblockingSync& started = *sync;
    compound->sync = std::move(sync);
    request->kind = proto::Operation::Kind::send; // its status is empty
    request->role = Request::composed;
    request->compound = std::move(compound);
    ++win.epochs.pending_syncs;
    started.start([&win, r = request, finish = std::move(finish)](Err error) {
        --win.epochs.pending_syncs;
        full_fence();
        finish();
        const Err failure = take_failure(win);
        r->error = error != Err::success ? error : failure;
        complete_request(*r); // may destroy the synchronization
    });
    return Err::success;
}

// A synchronization that has nothing to wait for.
Err completed(Request*& request) {
    request = completed_send_request();
    return request != nullptr ? Err::success : request_alloc_error();
}

std::vector<int> all_ranks(const Win& win) {
    std::vector<int> ranks(static_cast<size_t>(win.peer_count));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

Err start_fence(Win& win, int assertion, std::unique_ptr<NonblockingSync> sync, Request*& request) {
    win.epochs.ending = true;
    win.epochs.fenced = win.all_open = false;
    full_fence();
    return start_sync(
        win, std::move(sync),
        [&win, assertion] {
            win.epochs.ending = false;
            open_by_fence(win, assertion);
        },
        request);
}

Err start_flush(Win& win, std::vector<int> ranks, Request*& request) {
    full_fence();
    return start_sync(
        win, win.window->make_flush(std::move(ranks)), [] {}, request);
}

} // namespace

Err win_ifence(int assertion, Win& win, Request*& request) {
    if (const Err e = check_fence(assertion, win); e != Err::success) return e;
    if (fence_waits(assertion)) return start_fence(win, assertion, win.window->make_fence(), request);
    open_by_fence(win, assertion);
    return completed(request);
}

Err win_ifence_neighbors(Group& group, int assertion, Win& win, Request*& request) {
    if (const Err e = check_fence(assertion, win); e != Err::success) return e;
    std::vector<int> neighbors;
    if (const Err e = ranks_in(win, group, neighbors); e != Err::success) return e;
    std::erase(neighbors, win.team().rank);
    if (fence_waits(assertion))
        return start_fence(win, assertion, win.window->make_neighbor_fence(std::move(neighbors)), request);
    open_by_fence(win, assertion);
    return completed(request);
}

Err win_fence_neighbors(Group& group, int assertion, Win& win) {
    Request* request = nullptr;
    if (const Err e = win_ifence_neighbors(group, assertion, win, request); e != Err::success) return e;
    return wait(request, nullptr);
}

Err win_iflush(int rank, Win& win, Request*& request) {
    if (rank == proc_null) return completed(request);
    if (const Err e = require_locked(win, rank); e != Err::success) return e;
    return start_flush(win, {rank}, request);
}

Err win_iflush_all(Win& win, Request*& request) {
    if (const Err e = require_any_lock(win); e != Err::success) return e;
    return start_flush(win, all_ranks(win), request);
}

Err win_iunlock(int rank, Win& win, Request*& request) {
    if (rank == proc_null) return completed(request);
    TargetCache& cache = win.cache_of(rank);
    if (const Err e = require_lock_of(cache); e != Err::success) return e;
    const TargetLock was = std::exchange(cache.lock, TargetLock::releasing);
    cache.open = false;
    full_fence();
    const LockMode mode = was == TargetLock::exclusive ? LockMode::exclusive : LockMode::shared;
    return start_sync(
        win,
        was == TargetLock::unchecked ? win.window->make_flush({rank}) : win.window->make_unlock({rank}, mode),
        [&win, rank] {
            win.window->peek(rank).exclusive = false;
            win.cache_of(rank).lock = TargetLock::none;
            --win.epochs.locks;
        },
        request);
}

Err win_iunlock_all(Win& win, Request*& request) {
    if (const Err e = require_all_locked(win); e != Err::success) return e;
    win.epochs.ending = true;
    win.all_open = false;
    full_fence();
    return start_sync(
        win,
        win.epochs.all_unchecked ? win.window->make_flush(all_ranks(win))
                                 : win.window->make_unlock(all_ranks(win), LockMode::shared),
        [&win] { win.epochs.ending = win.all_locked = false; }, request);
}

} // namespace zipmpi::core
