// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks and state changes that blocking and nonblocking synchronization calls share (epoch.cpp).
#pragma once

#include "core/win/win.hpp"

#include <vector>

namespace zipmpi::core {

Err check_assertion(int assertion, int allowed);
// Returns and clears the error of an operation that was in flight.
Err take_failure(Win& win);
// No nonblocking synchronization is ending the epoch.
Err require_not_ending(const Win& win);
// Single-target locks and MPI_Win_start epochs exclude each other and everything else; a fence epoch ends
// implicitly.
Err require_no_access(const Win& win);
Err require_locked(Win& win, int rank);
// By MPI_Win_lock; its release has not begun.
Err require_lock_of(const TargetCache& cache);
Err require_any_lock(const Win& win);
// By MPI_Win_lock_all; its release has not begun.
Err require_all_locked(const Win& win);
// Window ranks of the members of a group.
Err ranks_in(Win& win, const Group& group, std::vector<int>& ranks);

Err check_fence(int assertion, const Win& win);
// False with MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED: there is nothing to wait for.
bool fence_waits(int assertion);
void open_by_fence(Win& win, int assertion);

} // namespace zipmpi::core
