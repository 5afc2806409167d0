// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory barrier that one process executes on behalf of all registered processes: the frequent operation
// (sending) needs no barrier, the rare one (going to sleep) executes it for both.
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace zipmpi::os {

// Registers this process for global_membarrier() of others. Returns false if the kernel refuses.
inline bool register_membarrier() noexcept {
#if defined(__SANITIZE_THREAD__)
    return false; // ThreadSanitizer does not support this kind of ordering
#else
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
#endif
}

// On return every thread of every registered process has executed a full barrier since the call.
inline void global_membarrier() noexcept { syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0); }

} // namespace zipmpi::os
