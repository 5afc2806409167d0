// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cached data of windows and targets for RMA calls that take a few nanoseconds: one cache line per window and
// one per target. An ABI binding executes the plainly valid cases from it and leaves everything else,
// including all errors, to the calls of core/api/rma.hpp.
//
// Threads: a target's record is filled once, under the progress engine lock, `disp_end` last; a thread that
// reads a nonzero `disp_end` may read the rest without the lock. Epochs change with the application's
// synchronization.
#pragma once

#include "core/object.hpp"

#include <cstddef>

namespace zipmpi::core {

enum class TargetLock : uint8_t {
    none,
    shared,
    exclusive,
    unchecked,
    releasing // by MPIX_Win_iunlock
};

struct alignas(64) TargetCache {
    std::byte* base = nullptr; // target memory as mapped in this process
    uint64_t size = 0;
    uint64_t disp_unit = 0;             // bytes per displacement unit
    std::atomic<uint64_t> disp_end{0};  // displacements up to the end; 0: not mapped, or not resolved yet
    bool open = false;                  // in its own access epoch
    TargetLock lock = TargetLock::none; // by MPI_Win_lock
    bool cpu_atomic = false;            // integers of 4 and 8 bytes are updated by atomic CPU instructions

    // pairs with address_of() and is_resolved()
    void resolve(std::byte* at, uint64_t bytes, int64_t displacement_unit, bool atomics) {
        base = at;
        size = bytes;
        disp_unit = static_cast<uint64_t>(displacement_unit);
        cpu_atomic = atomics;
        disp_end.store(size / disp_unit + 1, std::memory_order_release);
    }
    [[nodiscard]] bool is_resolved() const { return disp_end.load(std::memory_order_acquire) != 0; }

    // Address of contiguous bytes, or null if they are not all in mapped memory. A negative displacement
    // becomes a large unsigned one and is rejected.
    [[nodiscard]] std::byte* address_of(int64_t disp, uint64_t bytes) const {
        const bool begins = static_cast<uint64_t>(disp) < disp_end.load(std::memory_order_acquire);
        const uint64_t offset = static_cast<uint64_t>(disp) * disp_unit;
        return begins && bytes <= size - offset ? base + offset : nullptr;
    }
};

// First members of a window.
struct WinHeader : CommHeader {
    TargetCache* target_caches = nullptr; // by target
    bool all_open = false;                // fence, MPI_Win_lock_all
    bool all_locked = false;

    [[nodiscard]] bool may_access(const TargetCache& target) const { return all_open || target.open; }
    [[nodiscard]] bool is_locked(const TargetCache& target) const {
        return all_locked || target.lock != TargetLock::none;
    }
};

// Element size of a predefined type; 0 if elements are noncontiguous or longer than a cache line.
uint8_t contiguous_size(const Datatype& type) noexcept;
// True if CPU instructions can update elements atomically.
bool has_cpu_atomics(const Datatype& type) noexcept;

// Full memory fence: makes earlier stores visible to all processes. std::atomic_thread_fence is not supported
// by the thread sanitizer, and compilers implement it on the top word of the stack, on which the return of
// this function would wait.
[[gnu::always_inline]] inline void full_fence() noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    asm volatile("lock addl $0, -4(%%rsp)" ::: "memory", "cc");
#else
    __sync_synchronize();
#endif
}

// Copies of common small sizes are single loads and stores, which other processes see as a whole.
[[gnu::always_inline]] inline void copy_bytes(std::byte* to, const std::byte* from, uint64_t bytes) noexcept {
    if (bytes == 8)
        __builtin_memcpy(to, from, 8);
    else if (bytes == 4)
        __builtin_memcpy(to, from, 4);
    else
        __builtin_memcpy(to, from, bytes);
}

} // namespace zipmpi::core
