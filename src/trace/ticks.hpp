// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cheapest clock of the processor. TraceClock relates it to the clock of the host.
#pragma once

#include "os/clock.hpp"

#include <cstdint>

namespace zipmpi::trace {

inline uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t value = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return os::now_ns();
#endif
}

} // namespace zipmpi::trace
