// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <ctime>
#include <sched.h>
#include <sys/syscall.h>

namespace zipmpi::os {

inline uint64_t now_ns() noexcept {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(t.tv_nsec);
}

inline void cpu_relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Yields the CPU. Inline system call: when oversubscribed, each page of code touched per switch costs time.
inline void yield_cpu() noexcept {
#if defined(__x86_64__)
    long result = SYS_sched_yield;
    asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
#else
    sched_yield();
#endif
}

// Prefetches a cache line in exclusive state.
inline void prefetch_for_write(const void* address) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
    __builtin_prefetch(address, 1);
#endif
}

} // namespace zipmpi::os
