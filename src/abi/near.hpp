// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided calls on memory that is seen here, without a call into the engine: a store between two calls that
// check arguments would be the smallest part of its time. Each function says whether the call is done; if
// not, nothing has happened, and the entry point goes its usual way with all its checks and errors.
//
// Usual means here: predefined datatypes, the same on both sides, in an epoch, within the window. Atomic
// changes take the same instructions as core/op/steps.cpp: who meets at an element must agree.
#pragma once

#include "abi/handles.hpp"
#include "core/near.hpp"

namespace zipmpi::abi::near {

// By the code of a datatype: bytes of an element, and a bit for those that the CPU changes in one step. 0:
// not plain, or not asked for yet.
inline constexpr uint8_t stepped_bit = 0x80;
extern std::atomic<uint8_t> plain_types[codes_end];

// Larger counts can overflow.
inline constexpr uint64_t counts_end = uint64_t{1} << 31;

inline unsigned plain_type(MPI_Datatype type) noexcept {
    const auto code = reinterpret_cast<uintptr_t>(type);
    return code < codes_end ? plain_types[code].load(std::memory_order_relaxed) : 0;
}

// A window has no predefined handle: a good one is an address.
inline bool is_window(MPI_Win win) noexcept {
    const auto value = reinterpret_cast<uintptr_t>(win);
    return core::phase() == core::Phase::running && value >= first_user_value &&
           value % alignof(core::Object) == 0 &&
           reinterpret_cast<const core::Object*>(win)->cls == core::Class::win;
}
inline const core::WinFace& face_of(MPI_Win win) noexcept {
    return *reinterpret_cast<const core::WinFace*>(win);
}

// Null: there is no such window, or rank.
[[gnu::always_inline]] inline const core::Near* target(MPI_Win win, int rank) noexcept {
    const bool good =
        is_window(win) && static_cast<unsigned>(rank) < static_cast<unsigned>(face_of(win).peers);
    return good ? face_of(win).near + static_cast<unsigned>(rank) : nullptr;
}

// Where the bytes are. Null: not in an epoch, not in range, or not seen here.
[[gnu::always_inline]] inline std::byte* place(MPI_Win win, int rank, MPI_Aint disp,
                                               uint64_t bytes) noexcept {
    const core::Near* const near = target(win, rank);
    return near != nullptr && face_of(win).may_access(*near) ? near->place(disp, bytes) : nullptr;
}

// The same of one element that the CPU changes in one step; bytes: 4 or 8.
[[gnu::always_inline]] inline std::byte* place_of_word(MPI_Win win, int rank, MPI_Aint disp, unsigned plain,
                                                       uintptr_t bytes) noexcept {
    const core::Near* const near = target(win, rank);
    if ((plain & stepped_bit) == 0 || near == nullptr || !face_of(win).may_access(*near)) return nullptr;
    std::byte* const at = near->place(disp, bytes);
    return near->stepped && (reinterpret_cast<uintptr_t>(at) & (bytes - 1)) == 0 ? at : nullptr;
}

inline bool is_memory(const void* buffer) noexcept {
    return reinterpret_cast<uintptr_t>(buffer) >= first_user_value;
}

// The call moves bytes in a row, so many.
template <class Count>
[[gnu::always_inline]] inline bool moves_plainly(const void* buffer, Count count, MPI_Datatype type,
                                                 Count target_count, MPI_Datatype target_type,
                                                 uint64_t& bytes) noexcept {
    const unsigned size = plain_type(type) & ~unsigned{stepped_bit};
    bytes = static_cast<uint64_t>(count) * size;
    return size != 0 && type == target_type && count == target_count &&
           static_cast<uint64_t>(count) < counts_end && is_memory(buffer);
}

template <class Count>
[[gnu::always_inline]] inline bool put(const void* buffer, Count count, MPI_Datatype type, int rank,
                                       MPI_Aint disp, Count target_count, MPI_Datatype target_type,
                                       MPI_Win win) noexcept {
    uint64_t bytes = 0;
    if (!moves_plainly(buffer, count, type, target_count, target_type, bytes)) return false;
    std::byte* const at = place(win, rank, disp, bytes);
    if (at == nullptr) return false;
    core::copy_bytes(at, static_cast<const std::byte*>(buffer), bytes);
    return true;
}

template <class Count>
[[gnu::always_inline]] inline bool get(void* buffer, Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                                       Count target_count, MPI_Datatype target_type, MPI_Win win) noexcept {
    uint64_t bytes = 0;
    if (!moves_plainly(buffer, count, type, target_count, target_type, bytes)) return false;
    const std::byte* const at = place(win, rank, disp, bytes);
    if (at == nullptr) return false;
    core::copy_bytes(static_cast<std::byte*>(buffer), at, bytes);
    return true;
}

// False: not one of the usual operations.
template <class T>
[[gnu::always_inline]] inline bool change(std::byte* at, const void* value, void* fetched,
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
    const unsigned plain = plain_type(type);
    const unsigned bytes = plain & ~unsigned{stepped_bit};
    std::byte* const at = place_of_word(win, rank, disp, plain, bytes);
    if (at == nullptr) return false;
    return bytes == sizeof(uint64_t) ? change<uint64_t>(at, value, fetched, op)
                                     : change<uint32_t>(at, value, fetched, op);
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
    const unsigned plain = plain_type(type);
    const unsigned bytes = plain & ~unsigned{stepped_bit};
    std::byte* const at = place_of_word(win, rank, disp, plain, bytes);
    if (at == nullptr) return false;
    if (bytes == sizeof(uint64_t))
        swap<uint64_t>(at, value, compare, fetched);
    else
        swap<uint32_t>(at, value, compare, fetched);
    return true;
}

// What is done to memory that is seen here is complete when its call returns, and needs to be ordered only.
[[gnu::always_inline]] inline bool flush(int rank, MPI_Win win) noexcept {
    const core::Near* const near = target(win, rank);
    if (near == nullptr || !near->known() || !face_of(win).is_locked(*near)) return false;
    core::order_memory();
    return true;
}

} // namespace zipmpi::abi::near
