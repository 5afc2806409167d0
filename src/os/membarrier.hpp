// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A memory barrier that one process executes on behalf of all others that have registered: what is done often
// (sending) needs no barrier of its own then, what is done seldom (going to sleep) pays for both.
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace zipmpi::os {

// From now on this process takes part in barrier_for_all() of others. False: the kernel refuses.
inline bool register_for_barriers() noexcept {
#if defined(__SANITIZE_THREAD__)
    return false; // the sanitizer does not see this kind of order
#else
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
#endif
}

// When it returns, every thread of every registered process has executed a full barrier since it was called.
inline void barrier_for_all() noexcept { syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0); }

} // namespace zipmpi::os
