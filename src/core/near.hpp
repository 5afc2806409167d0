// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What one-sided calls of a few nanoseconds look at: of a window its first line, of a target another one. A
// face answers from them what is plainly right and leaves all else, every error included, to the calls of
// api.hpp.
//
// Threads: a record of a target is filled once, under the engine's lock, `places` last; who has read another
// value than 0 there may read the rest without the lock. Epochs change with the program's synchronisation.
#pragma once

#include "core/object.hpp"

#include <cstddef>

namespace zipmpi::core {

enum class Held : uint8_t { no, shared, exclusive, unchecked };

struct alignas(64) Near {
    std::byte* base = nullptr; // of the target's memory, as it is seen here
    uint64_t size = 0;
    uint64_t unit = 1;               // bytes of one displacement
    std::atomic<uint64_t> places{0}; // displacements up to its end; 0: not seen here, or not known yet
    bool open = false;               // in an access epoch of its own
    Held held = Held::no;            // by MPI_Win_lock
    bool stepped = false;            // integers of 4 and 8 bytes are changed by instructions of the CPU

    // pairs with place() and known()
    void fill(std::byte* at, uint64_t bytes, int64_t displacement_unit, bool steps) {
        base = at;
        size = bytes;
        unit = static_cast<uint64_t>(displacement_unit);
        stepped = steps;
        places.store(size / unit + 1, std::memory_order_release);
    }
    [[nodiscard]] bool known() const { return places.load(std::memory_order_acquire) != 0; }

    // Of bytes in a row. Null: they do not all lie in memory that is seen here. A negative displacement is a
    // large one.
    [[nodiscard]] std::byte* place(int64_t disp, uint64_t bytes) const {
        const bool begins = static_cast<uint64_t>(disp) < places.load(std::memory_order_acquire);
        const uint64_t offset = static_cast<uint64_t>(disp) * unit;
        return begins && bytes <= size - offset ? base + offset : nullptr;
    }
};

// How a window begins.
struct WinFace : CommFace {
    Near* near = nullptr;     // by target
    bool open_to_all = false; // fence, MPI_Win_lock_all
    bool all_locked = false;

    [[nodiscard]] bool may_access(const Near& target) const { return open_to_all || target.open; }
    [[nodiscard]] bool is_locked(const Near& target) const { return all_locked || target.held != Held::no; }
};

// Of a predefined type: bytes of an element, 0 if elements have gaps or are longer than a line.
uint8_t plain_bytes(const Datatype& type) noexcept;
// Elements can be changed by instructions of the CPU.
bool is_stepped(const Datatype& type) noexcept;

// What has been stored is there for everybody. The thread sanitizer knows no std::atomic_thread_fence. A
// compiler's fence would change the word at the top of the stack, which the return of this function waits
// for.
[[gnu::always_inline]] inline void order_memory() noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    asm volatile("lock addl $0, -4(%%rsp)" ::: "memory", "cc");
#else
    __sync_synchronize();
#endif
}

// Short copies of usual lengths are single loads and stores, which others see whole.
[[gnu::always_inline]] inline void copy_bytes(std::byte* to, const std::byte* from, uint64_t bytes) noexcept {
    if (bytes == 8)
        __builtin_memcpy(to, from, 8);
    else if (bytes == 4)
        __builtin_memcpy(to, from, 4);
    else
        __builtin_memcpy(to, from, bytes);
}

} // namespace zipmpi::core
