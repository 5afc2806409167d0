// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sleep and wake on a word of shared memory.
#pragma once

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace zipmpi::os {

enum class FutexWait { woken, changed, timed_out };

// Sleeps while *word == expected, at most timeout_ns. The word may be shared between processes.
inline FutexWait futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                            int64_t timeout_ns) noexcept {
    timespec t{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
    if (syscall(SYS_futex, &word, FUTEX_WAIT, expected, &t, nullptr, 0) == 0) return FutexWait::woken;
    return errno == ETIMEDOUT ? FutexWait::timed_out : FutexWait::changed; // EAGAIN, EINTR: check again
}

// Returns the number of sleepers woken: those whose futex_wait() returns `woken`.
inline uint32_t futex_wake_all(std::atomic<uint32_t>& word) noexcept {
    const long woken = syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    return woken > 0 ? static_cast<uint32_t>(woken) : 0;
}

} // namespace zipmpi::os
