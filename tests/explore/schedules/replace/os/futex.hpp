// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces src/os/futex.hpp. Sleeps have no timeout.
#pragma once

#include "schedules.hpp"

namespace zipmpi::os {

enum class FutexWait { woken, changed, timed_out };

inline FutexWait futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                            int64_t /*timeout_ns*/) noexcept {
    return explore::wait_on(&word, expected) ? FutexWait::woken : FutexWait::changed;
}

inline uint32_t futex_wake_all(std::atomic<uint32_t>& word) noexcept { return explore::wake_all(&word); }

} // namespace zipmpi::os
