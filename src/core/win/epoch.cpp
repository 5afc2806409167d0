// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Synchronisation: which targets this process may access, and when what was done is there. Operations on
// memory that is reached directly or by the kernel are complete when their calls return, so synchronising
// means to order them, and to wait for the other side where MPI says so.
#include "core/group/group.hpp"
#include "core/state.hpp"
#include "core/win/access.hpp"

#include <atomic>
#include <utility>

namespace zipmpi::core {
namespace {

Err check_assertion(int given, int known) {
    if ((given & ~known) == 0) return Err::success;
    return fail(Err::assertion, "pass 0, or assertions that this call takes",
                "the assertion has bits %#x, which mean nothing here", static_cast<unsigned>(given & ~known));
}

// The error of an operation that has been under way, once.
Err late_failure(Win& win) {
    const Err e = win.window->take_failure();
    const Err fetch = std::exchange(win.failure, Err::success);
    return e != Err::success ? e : fetch;
}

// Single locks and started accesses exclude each other and everything else; a fence ends by itself.
Err need_no_access(const Win& win) {
    if (win.locks == 0 && !win.all_locked && !win.started) return Err::success;
    return wrong_synchronisation("end the access epoch before another one begins",
                                 win.started ? "an access epoch of MPI_Win_start is open"
                                             : "the window is locked by this process");
}

void close_fence(Win& win) {
    win.fenced = false;
    win.open_to_all = win.all_locked;
}

// Ranks in the window of the members of a group.
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

Err need_locked(Win& win, int rank) {
    if (win.is_locked(win.near_of(rank))) return Err::success;
    return wrong_synchronisation("call MPI_Win_lock or MPI_Win_lock_all first",
                                 "the target is not locked by this process");
}

// The rank is locked, and nothing is ever under way to it: what goes there is done when its call returns.
bool is_settled(Win& win, int rank) {
    if (rank < 0 || !win.is_locked(win.near_of(rank))) return false;
    const proto::rma::Reach reach = win.window->peek(rank).reach();
    return reach == proto::rma::Reach::direct || reach == proto::rma::Reach::kernel;
}

// Apart: a flush that waits for nothing then saves no registers.
[[gnu::noinline]] Err await_done(int rank, Win& win) {
    if (rank == proc_null) return Err::success;
    if (const Err e = need_locked(win, rank); e != Err::success) return e;
    order_memory();
    const Locked locked;
    win.window->flush(rank);
    return late_failure(win);
}

[[gnu::noinline]] Err await_here(int rank, Win& win) {
    if (rank == proc_null) return Err::success;
    if (const Err e = need_locked(win, rank); e != Err::success) return e;
    order_memory();
    const Locked locked;
    win.window->flush_local(rank);
    return late_failure(win);
}

Err need_any_lock(const Win& win) {
    if (win.all_locked || win.locks > 0) return Err::success;
    return wrong_synchronisation("call MPI_Win_lock or MPI_Win_lock_all first",
                                 "no target is locked by this process");
}

} // namespace

Err wrong_synchronisation(const char* todo, const char* why) { return fail(Err::rma_sync, todo, "%s", why); }

// With nothing before and nothing after there is nobody to wait for.
Err win_fence(int assertion, Win& win) {
    constexpr int known = mode_nostore | mode_noput | mode_noprecede | mode_nosucceed;
    if (const Err e = check_assertion(assertion, known); e != Err::success) return e;
    if (const Err e = need_no_access(win); e != Err::success) return e;
    if (win.posted)
        return wrong_synchronisation("call MPI_Win_wait first", "an exposure epoch of MPI_Win_post is open");
    order_memory();
    constexpr int alone = mode_noprecede | mode_nosucceed;
    Err e = Err::success;
    if ((assertion & alone) != alone) e = win.window->fence();
    order_memory();
    win.fenced = win.open_to_all = (assertion & mode_nosucceed) == 0;
    return e != Err::success ? e : late_failure(win);
}

Err win_post(Group& group, int assertion, Win& win) {
    if (const Err e = check_assertion(assertion, mode_nocheck | mode_nostore | mode_noput); e != Err::success)
        return e;
    if (win.posted)
        return wrong_synchronisation("call MPI_Win_wait first", "an exposure epoch of MPI_Win_post is open");
    std::vector<int> origins;
    if (const Err e = ranks_in(win, group, origins); e != Err::success) return e;
    order_memory();
    win.posted = true;
    win.post_origins = static_cast<uint32_t>(origins.size());
    if ((assertion & mode_nocheck) == 0)
        for (const int origin : origins) win.window->post_to(origin);
    return Err::success;
}

Err win_start(Group& group, int assertion, Win& win) {
    if (const Err e = check_assertion(assertion, mode_nocheck); e != Err::success) return e;
    if (const Err e = need_no_access(win); e != Err::success) return e;
    std::vector<int> targets;
    if (const Err e = ranks_in(win, group, targets); e != Err::success) return e;
    close_fence(win);
    if ((assertion & mode_nocheck) == 0)
        for (const int target : targets) win.window->await_post(target);
    for (const int target : targets) win.near_of(target).open = true;
    win.start_targets = std::move(targets);
    win.started = true;
    return Err::success;
}

Err win_complete(Win& win) {
    if (!win.started)
        return wrong_synchronisation("call MPI_Win_start first", "no access epoch of MPI_Win_start is open");
    order_memory();
    for (const int target : win.start_targets) {
        win.near_of(target).open = false;
        win.window->complete_to(target);
    }
    win.window->flush_local(-1);
    win.start_targets.clear();
    win.started = false;
    return late_failure(win);
}

Err win_wait(Win& win) {
    if (!win.posted)
        return wrong_synchronisation("call MPI_Win_post first", "no exposure epoch of MPI_Win_post is open");
    win.window->await_completes(win.post_origins);
    win.posted = false;
    order_memory();
    return Err::success;
}

Err win_test(Win& win, bool& flag) {
    if (!win.posted)
        return wrong_synchronisation("call MPI_Win_post first", "no exposure epoch of MPI_Win_post is open");
    flag = win.window->all_completed(win.post_origins);
    if (!flag) {
        proto::poll(lane()); // origins may need this process to serve them
        flag = win.window->all_completed(win.post_origins);
    }
    if (!flag) return Err::success;
    win.window->forget_completes(win.post_origins);
    win.posted = false;
    order_memory();
    return Err::success;
}

Err win_lock(LockType type, int rank, int assertion, Win& win) {
    if (const Err e = check_assertion(assertion, mode_nocheck); e != Err::success) return e;
    if (rank == proc_null) return Err::success;
    Near& near = win.near_of(rank);
    if (win.all_locked || win.started || near.held != Held::no)
        return wrong_synchronisation("end the epoch on this target before another one begins",
                                     win.started ? "an access epoch of MPI_Win_start is open"
                                                 : "the target is locked by this process already");
    close_fence(win);
    const bool exclusive = type == LockType::exclusive;
    if ((assertion & mode_nocheck) != 0) {
        near.held = Held::unchecked;
    } else {
        near.held = exclusive ? Held::exclusive : Held::shared; // another thread may try meanwhile
        win.window->lock(rank, exclusive);
    }
    win.window->peek(rank).alone = exclusive; // unchecked: the program says so
    near.open = true;
    ++win.locks;
    return Err::success;
}

Err win_unlock(int rank, Win& win) {
    if (rank == proc_null) return Err::success;
    Near& near = win.near_of(rank);
    if (near.held == Held::no)
        return wrong_synchronisation("call MPI_Win_lock first", "the target is not locked by this process");
    const Held was = near.held;
    if (was == Held::unchecked) {
        win.window->flush(rank);
        order_memory();
    } else {
        win.window->unlock(rank, was == Held::exclusive);
    }
    win.window->peek(rank).alone = false;
    near.open = false;
    near.held = Held::no;
    --win.locks;
    return late_failure(win);
}

Err win_lock_all(int assertion, Win& win) {
    if (const Err e = check_assertion(assertion, mode_nocheck); e != Err::success) return e;
    if (const Err e = need_no_access(win); e != Err::success) return e;
    win.fenced = false;
    win.all_locked = true;
    win.all_unchecked = (assertion & mode_nocheck) != 0;
    for (int r = 0; !win.all_unchecked && r < win.peers; ++r) win.window->lock(r, false);
    win.open_to_all = true;
    return Err::success;
}

Err win_unlock_all(Win& win) {
    if (!win.all_locked)
        return wrong_synchronisation("call MPI_Win_lock_all first",
                                     "the window is not locked by this process");
    order_memory();
    for (int r = 0; !win.all_unchecked && r < win.peers; ++r) win.window->begin_unlock(r, false);
    win.window->flush_all();
    win.all_locked = win.open_to_all = false;
    return late_failure(win);
}

Err win_flush(int rank, Win& win) {
    if (!is_settled(win, rank)) [[unlikely]]
        return await_done(rank, win);
    order_memory();
    return Err::success;
}

Err win_flush_all(Win& win) {
    if (const Err e = need_any_lock(win); e != Err::success) return e;
    win.window->flush_all();
    order_memory();
    return late_failure(win);
}

// What goes out is copied at once; only what comes in is waited for.
Err win_flush_local(int rank, Win& win) {
    if (!is_settled(win, rank)) [[unlikely]]
        return await_here(rank, win);
    order_memory();
    return Err::success;
}

Err win_flush_local_all(Win& win) {
    if (const Err e = need_any_lock(win); e != Err::success) return e;
    win.window->flush_local(-1);
    return late_failure(win);
}

Err win_sync(Win&) {
    order_memory();
    return Err::success;
}

} // namespace zipmpi::core
