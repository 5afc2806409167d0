// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RMA fast path: calls on mapped memory without a call into core, whose argument checks would take longer
// than the store itself. Each function returns whether the call is done; if not, it had no side effects, and
// the entry point continues with its full checks.
//
// Covered cases: equal predefined datatypes on both sides, in an epoch, within the window. Atomic updates use
// the instructions of core/op/atomics.cpp, because both may update the same element.
#pragma once

#include "abi/predefined_types.hpp"
#include "core/win/target_cache.hpp"

namespace zipmpi::abi::rma_fast {

// Larger counts can overflow.
inline constexpr uint64_t count_limit = uint64_t{1} << 31;

// Null if the window is invalid or needs the general path. Windows have no predefined handles.
[[gnu::always_inline]] inline const core::WinHeader* window_of(MPI_Win win) noexcept {
    const core::Object* const object = quick_user_object<core::ObjectKind::win>(win);
    const bool good = core::hot::host_only.load(std::memory_order_relaxed) && object != nullptr &&
                      object->cls == core::ObjectKind::win;
    return good ? reinterpret_cast<const core::WinHeader*>(object) : nullptr;
}

// Null if the window or rank is invalid.
[[gnu::always_inline]] inline const core::TargetCache* find_target(const core::WinHeader* win,
                                                                   int rank) noexcept {
    const bool good = win != nullptr && static_cast<unsigned>(rank) < static_cast<unsigned>(win->peer_count);
    return good ? win->target_caches + static_cast<unsigned>(rank) : nullptr;
}

// Address of the target bytes. Null: no epoch, out of range, or not mapped.
[[gnu::always_inline]] inline std::byte* target_address(MPI_Win handle, int rank, MPI_Aint disp,
                                                        uint64_t bytes) noexcept {
    const core::WinHeader* const win = window_of(handle);
    const core::TargetCache* const cache = find_target(win, rank);
    return cache != nullptr && win->may_access(*cache) ? cache->address_of(disp, bytes) : nullptr;
}

// Address of one element that the CPU can update atomically; bytes: 4 or 8.
[[gnu::always_inline]] inline std::byte* atomic_address(MPI_Win handle, int rank, MPI_Aint disp,
                                                        unsigned type_info, uintptr_t bytes) noexcept {
    const core::WinHeader* const win = window_of(handle);
    const core::TargetCache* const cache = find_target(win, rank);
    if ((type_info & cpu_atomic_bit) == 0 || cache == nullptr || !win->may_access(*cache)) return nullptr;
    std::byte* const at = cache->address_of(disp, bytes);
    return cache->cpu_atomic && (reinterpret_cast<uintptr_t>(at) & (bytes - 1)) == 0 ? at : nullptr;
}

// True if the call moves contiguous data; sets `bytes`.
template <class Count>
[[gnu::always_inline]] inline bool is_contiguous_transfer(const void* buffer, Count count, MPI_Datatype type,
                                                          Count target_count, MPI_Datatype target_type,
                                                          uint64_t& bytes) noexcept {
    const unsigned size = predefined_size(type);
    bytes = static_cast<uint64_t>(count) * size;
    return size != 0 && type == target_type && count == target_count &&
           static_cast<uint64_t>(count) < count_limit && is_memory(buffer);
}

template <class Count>
[[gnu::always_inline]] inline bool put(const void* buffer, Count count, MPI_Datatype type, int rank,
                                       MPI_Aint disp, Count target_count, MPI_Datatype target_type,
                                       MPI_Win win) noexcept {
    uint64_t bytes = 0;
    if (!is_contiguous_transfer(buffer, count, type, target_count, target_type, bytes)) return false;
    std::byte* const at = target_address(win, rank, disp, bytes);
    if (at == nullptr) return false;
    core::copy_bytes(at, static_cast<const std::byte*>(buffer), bytes);
    return true;
}

template <class Count>
[[gnu::always_inline]] inline bool get(void* buffer, Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                                       Count target_count, MPI_Datatype target_type, MPI_Win win) noexcept {
    uint64_t bytes = 0;
    if (!is_contiguous_transfer(buffer, count, type, target_count, target_type, bytes)) return false;
    const std::byte* const at = target_address(win, rank, disp, bytes);
    if (at == nullptr) return false;
    core::copy_bytes(static_cast<std::byte*>(buffer), at, bytes);
    return true;
}

// Returns false if the operation is not covered.
template <class T>
[[gnu::always_inline]] inline bool atomic_update(std::byte* at, const void* value, void* fetched,
                                                 MPI_Op op) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    const std::atomic_ref<T> element(*reinterpret_cast<T*>(at));
    T in = 0;
    T before = 0;
    if (op == MPI_NO_OP) {
        before = element.load(relaxed);
    } else {
        __builtin_memcpy(&in, value, sizeof in);
        if (op == MPI_SUM)
            before = element.fetch_add(in, relaxed);
        else if (op == MPI_BXOR)
            before = element.fetch_xor(in, relaxed);
        else if (op == MPI_REPLACE)
            before = element.exchange(in, relaxed);
        else
            return false;
    }
    if (fetched != nullptr) __builtin_memcpy(fetched, &before, sizeof before);
    return true;
}

[[gnu::always_inline]] inline bool fetch_and_op(const void* value, void* fetched, MPI_Datatype type, int rank,
                                                MPI_Aint disp, MPI_Op op, MPI_Win win) noexcept {
    const unsigned type_info = predefined_type_info(type);
    const unsigned bytes = type_info & ~unsigned{cpu_atomic_bit};
    std::byte* const at = atomic_address(win, rank, disp, type_info, bytes);
    if (at == nullptr) return false;
    return bytes == sizeof(uint64_t) ? atomic_update<uint64_t>(at, value, fetched, op)
                                     : atomic_update<uint32_t>(at, value, fetched, op);
}

template <class Count>
[[gnu::always_inline]] inline bool accumulate(const void* buffer, Count count, MPI_Datatype type, int rank,
                                              MPI_Aint disp, Count target_count, MPI_Datatype target_type,
                                              MPI_Op op, MPI_Win win) noexcept {
    return count == 1 && target_count == 1 && type == target_type && is_memory(buffer) &&
           fetch_and_op(buffer, nullptr, type, rank, disp, op, win);
}

template <class T>
[[gnu::always_inline]] inline void swap(std::byte* at, const void* value, const void* compare,
                                        void* fetched) noexcept {
    T expected{};
    T wanted{};
    __builtin_memcpy(&expected, compare, sizeof expected);
    __builtin_memcpy(&wanted, value, sizeof wanted);
    std::atomic_ref<T>(*reinterpret_cast<T*>(at)).compare_exchange_strong(expected, wanted);
    __builtin_memcpy(fetched, &expected, sizeof expected);
}

[[gnu::always_inline]] inline bool compare_and_swap(const void* value, const void* compare, void* fetched,
                                                    MPI_Datatype type, int rank, MPI_Aint disp,
                                                    MPI_Win win) noexcept {
    const unsigned type_info = predefined_type_info(type);
    const unsigned bytes = type_info & ~unsigned{cpu_atomic_bit};
    std::byte* const at = atomic_address(win, rank, disp, type_info, bytes);
    if (at == nullptr) return false;
    if (bytes == sizeof(uint64_t))
        swap<uint64_t>(at, value, compare, fetched);
    else
        swap<uint32_t>(at, value, compare, fetched);
    return true;
}

// Operations on mapped memory are complete when their calls return and only need ordering.
[[gnu::always_inline]] inline bool flush(int rank, MPI_Win handle) noexcept {
    const core::WinHeader* const win = window_of(handle);
    const core::TargetCache* const cache = find_target(win, rank);
    if (cache == nullptr || !cache->is_resolved() || !win->is_locked(*cache)) return false;
    core::full_fence();
    return true;
}

} // namespace zipmpi::abi::rma_fast
