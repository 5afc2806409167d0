// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RMA synchronization: which targets this process may access, and when operations complete. Operations by
// shared memory or CMA are complete when their calls return, so synchronization means memory ordering and
// waiting for the other side where MPI requires it.
#include "core/win/epoch.hpp"
#include "core/group/group.hpp"
#include "core/runtime_state.hpp"
#include "core/win/access.hpp"

#include <atomic>
#include <utility>

namespace zipmpi::core {
namespace {

using proto::rma::LockMode;

Err require_lockable(const Win& win) {
    if (win.policy.passive == proto::rma::WindowPolicy::Passive::allowed) return Err::success;
    return wrong_synchronization("create the window without the info hint no_locks",
                                 "the info hint no_locks says that the window is never locked");
}

void close_fence(Win& win) {
    win.epochs.fenced = false;
    win.all_open = win.all_locked;
}

// True if the rank is locked and operations to it always complete within their calls.
bool is_always_flushed(Win& win, int rank) {
    if (rank < 0 || !win.is_locked(win.cache_of(rank))) return false;
    const proto::rma::AccessPath path = win.window->peek(rank).path();
    return path == proto::rma::AccessPath::shared || path == proto::rma::AccessPath::cma;
}

// Not inlined: a flush without pending operations then saves no registers.
[[gnu::noinline]] Err flush_slow(int rank, Win& win) {
    if (rank == proc_null) return Err::success;
    if (const Err e = require_locked(win, rank); e != Err::success) return e;
    full_fence();
    const RuntimeLockGuard locked;
    win.window->flush(rank);
    return take_failure(win);
}

[[gnu::noinline]] Err flush_local_slow(int rank, Win& win) {
    if (rank == proc_null) return Err::success;
    if (const Err e = require_locked(win, rank); e != Err::success) return e;
    full_fence();
    const RuntimeLockGuard locked;
    win.window->flush_local(rank);
    return take_failure(win);
}

} // namespace

Err wrong_synchronization(const char* fix, const char* why) { return fail(Err::rma_sync, fix, "%s", why); }

Err check_assertion(int assertion, int allowed) {
    if ((assertion & ~allowed) == 0) return Err::success;
    return fail(Err::assertion, "pass 0 or assertions that this call supports",
                "the assertion has bits %#x, which are not valid for this call",
                static_cast<unsigned>(assertion & ~allowed));
}

Err take_failure(Win& win) {
    const Err e = win.window->take_failure();
    const Err fetch = std::exchange(win.failure, Err::success);
    return e != Err::success ? e : fetch;
}

Err require_not_ending(const Win& win) {
    if (!win.epochs.ending) return Err::success;
    return wrong_synchronization("complete the request of the nonblocking synchronization first",
                                 "the epoch is being ended by a nonblocking call");
}

Err require_no_access(const Win& win) {
    if (const Err e = require_not_ending(win); e != Err::success) return e;
    if (win.epochs.locks == 0 && !win.all_locked && !win.epochs.started) return Err::success;
    return wrong_synchronization("end the access epoch before another one begins",
                                 win.epochs.started ? "an access epoch of MPI_Win_start is open"
                                                    : "the window is locked by this process");
}

Err ranks_in(Win& win, const Group& group, std::vector<int>& ranks) {
    const Members members(win.team().map, win.team().size);
    const RankIndex index(members);
    for (int r = 0; r < group.members.size(); ++r) {
        ranks.push_back(index[group.members[r]]);
        if (ranks.back() < 0)
            return fail(Err::group, "pass a group of members of the window",
                        "rank %d of the group is not in the window", r);
    }
    return Err::success;
}

Err require_locked(Win& win, int rank) {
    if (win.is_locked(win.cache_of(rank))) return Err::success;
    return wrong_synchronization("call MPI_Win_lock or MPI_Win_lock_all first",
                                 "the target is not locked by this process");
}

Err require_lock_of(const TargetCache& cache) {
    if (cache.lock != TargetLock::none && cache.lock != TargetLock::releasing) return Err::success;
    return wrong_synchronization("call MPI_Win_lock first", "the target is not locked by this process");
}

Err require_any_lock(const Win& win) {
    if (win.all_locked || win.epochs.locks > 0) return Err::success;
    return wrong_synchronization("call MPI_Win_lock or MPI_Win_lock_all first",
                                 "no target is locked by this process");
}

Err require_all_locked(const Win& win) {
    if (win.all_locked) return require_not_ending(win);
    return wrong_synchronization("call MPI_Win_lock_all first", "the window is not locked by this process");
}

Err check_fence(int assertion, const Win& win) {
    constexpr int allowed = mode_nostore | mode_noput | mode_noprecede | mode_nosucceed;
    if (const Err e = check_assertion(assertion, allowed); e != Err::success) return e;
    if (const Err e = require_no_access(win); e != Err::success) return e;
    if (!win.epochs.posted) return Err::success;
    return wrong_synchronization("call MPI_Win_wait first", "an exposure epoch of MPI_Win_post is open");
}

bool fence_waits(int assertion) {
    constexpr int no_epoch = mode_noprecede | mode_nosucceed;
    return (assertion & no_epoch) != no_epoch;
}

void open_by_fence(Win& win, int assertion) {
    full_fence();
    win.epochs.fenced = win.all_open = (assertion & mode_nosucceed) == 0;
}

Err win_fence(int assertion, Win& win) {
    if (const Err e = check_fence(assertion, win); e != Err::success) return e;
    full_fence();
    Err e = Err::success;
    if (fence_waits(assertion)) e = win.window->epochs().fence();
    open_by_fence(win, assertion);
    return e != Err::success ? e : take_failure(win);
}

Err win_post(Group& group, int assertion, Win& win) {
    if (const Err e = check_assertion(assertion, mode_nocheck | mode_nostore | mode_noput); e != Err::success)
        return e;
    if (const Err e = require_not_ending(win); e != Err::success) return e;
    if (win.epochs.posted)
        return wrong_synchronization("call MPI_Win_wait first", "an exposure epoch of MPI_Win_post is open");
    std::vector<int> origins;
    if (const Err e = ranks_in(win, group, origins); e != Err::success) return e;
    full_fence();
    win.epochs.posted = true;
    if ((assertion & mode_nocheck) == 0)
        for (const int origin : origins) win.window->epochs().post_to(origin);
    win.epochs.post_origins = std::move(origins);
    return Err::success;
}

Err win_start(Group& group, int assertion, Win& win) {
    if (const Err e = check_assertion(assertion, mode_nocheck); e != Err::success) return e;
    if (const Err e = require_no_access(win); e != Err::success) return e;
    std::vector<int> targets;
    if (const Err e = ranks_in(win, group, targets); e != Err::success) return e;
    close_fence(win);
    if ((assertion & mode_nocheck) == 0)
        for (const int target : targets)
            if (!win.window->epochs().await_post(target)) return take_failure(win);
    for (const int target : targets) win.cache_of(target).open = true;
    win.epochs.start_targets = std::move(targets);
    win.epochs.started = true;
    return Err::success;
}

Err win_complete(Win& win) {
    if (!win.epochs.started)
        return wrong_synchronization("call MPI_Win_start first", "no access epoch of MPI_Win_start is open");
    full_fence();
    for (const int target : win.epochs.start_targets) win.cache_of(target).open = false;
    win.window->epochs().complete_to(win.epochs.start_targets);
    win.window->flush_local_all();
    win.epochs.start_targets.clear();
    win.epochs.started = false;
    return take_failure(win);
}

Err win_wait(Win& win) {
    if (!win.epochs.posted)
        return wrong_synchronization("call MPI_Win_post first", "no exposure epoch of MPI_Win_post is open");
    const bool completed = win.window->epochs().await_completes(win.epochs.post_origins);
    win.epochs.posted = false;
    full_fence();
    return completed ? Err::success : take_failure(win);
}

Err win_test(Win& win, bool& flag) {
    if (!win.epochs.posted)
        return wrong_synchronization("call MPI_Win_post first", "no exposure epoch of MPI_Win_post is open");
    proto::rma::EpochSync& epochs = win.window->epochs();
    const auto origins = static_cast<uint32_t>(win.epochs.post_origins.size());
    flag = epochs.all_completed(origins);
    if (!flag) {
        proto::poll(progress_engine()); // origins may need this process to serve their requests
        flag = epochs.all_completed(origins);
    }
    if (!flag) {
        const Err failed = epochs.failure_of(win.epochs.post_origins);
        win.epochs.posted = failed == Err::success;
        return failed;
    }
    epochs.consume_completes(origins);
    win.epochs.posted = false;
    full_fence();
    return Err::success;
}

Err win_lock(LockType type, int rank, int assertion, Win& win) {
    if (const Err e = check_assertion(assertion, mode_nocheck); e != Err::success) return e;
    if (const Err e = require_lockable(win); e != Err::success) return e;
    if (rank == proc_null) return Err::success;
    TargetCache& cache = win.cache_of(rank);
    if (const Err e = require_not_ending(win); e != Err::success) return e;
    if (win.all_locked || win.epochs.started || cache.lock != TargetLock::none)
        return wrong_synchronization("end the epoch on this target before another one begins",
                                     win.epochs.started ? "an access epoch of MPI_Win_start is open"
                                                        : "the target is already locked by this process");
    close_fence(win);
    const bool exclusive = type == LockType::exclusive;
    if ((assertion & mode_nocheck) != 0) {
        cache.lock = TargetLock::unchecked;
    } else {
        cache.lock =
            exclusive ? TargetLock::exclusive : TargetLock::shared; // another thread may try concurrently
        if (!win.window->locks().lock(rank, exclusive ? LockMode::exclusive : LockMode::shared)) {
            cache.lock = TargetLock::none;
            return take_failure(win);
        }
    }
    win.window->peek(rank).exclusive = exclusive; // unchecked: asserted by the application
    cache.open = true;
    ++win.epochs.locks;
    return Err::success;
}

Err win_unlock(int rank, Win& win) {
    if (rank == proc_null) return Err::success;
    TargetCache& cache = win.cache_of(rank);
    if (const Err e = require_lock_of(cache); e != Err::success) return e;
    const TargetLock was = cache.lock;
    if (was == TargetLock::unchecked) {
        win.window->flush(rank);
        full_fence();
    } else {
        win.window->locks().unlock(rank,
                                   was == TargetLock::exclusive ? LockMode::exclusive : LockMode::shared);
    }
    win.window->peek(rank).exclusive = false;
    cache.open = false;
    cache.lock = TargetLock::none;
    --win.epochs.locks;
    return take_failure(win);
}

Err win_lock_all(int assertion, Win& win) {
    if (const Err e = check_assertion(assertion, mode_nocheck); e != Err::success) return e;
    if (const Err e = require_lockable(win); e != Err::success) return e;
    if (const Err e = require_no_access(win); e != Err::success) return e;
    win.epochs.fenced = false;
    win.all_locked = true;
    win.epochs.all_unchecked = (assertion & mode_nocheck) != 0;
    for (int r = 0; !win.epochs.all_unchecked && r < win.peer_count; ++r) {
        if (win.window->locks().lock(r, LockMode::shared)) continue;
        while (r-- > 0) win.window->locks().begin_unlock(r, LockMode::shared);
        win.all_locked = false;
        return take_failure(win);
    }
    win.all_open = true;
    return Err::success;
}

Err win_unlock_all(Win& win) {
    if (const Err e = require_all_locked(win); e != Err::success) return e;
    full_fence();
    if (!win.epochs.all_unchecked) win.window->locks().begin_unlock_all(LockMode::shared);
    win.window->flush_all();
    win.all_locked = win.all_open = false;
    return take_failure(win);
}

Err win_flush(int rank, Win& win) {
    if (!is_always_flushed(win, rank)) [[unlikely]]
        return flush_slow(rank, win);
    full_fence();
    return Err::success;
}

Err win_flush_all(Win& win) {
    if (const Err e = require_any_lock(win); e != Err::success) return e;
    win.window->flush_all();
    full_fence();
    return take_failure(win);
}

// Outgoing data is copied at once; only incoming data is waited for.
Err win_flush_local(int rank, Win& win) {
    if (!is_always_flushed(win, rank)) [[unlikely]]
        return flush_local_slow(rank, win);
    full_fence();
    return Err::success;
}

Err win_flush_local_all(Win& win) {
    if (const Err e = require_any_lock(win); e != Err::success) return e;
    win.window->flush_local_all();
    return take_failure(win);
}

Err win_sync(Win&) {
    full_fence();
    return Err::success;
}

} // namespace zipmpi::core
