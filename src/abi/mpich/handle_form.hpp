// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Handles of MPICH: integers of two bits kind (0 null, 1 and 2 predefined, 3 others), four bits class and an
// index; predefined datatypes also hold their size. The index of other handles is that of the core object,
// which a table finds. MPI_File is the address of the object.
#pragma once

#include "abi/mpi_abi.hpp"
#include "core/object.hpp"

#include <atomic>
#include <cstdint>
#include <type_traits>

// Attribute of the lookup of an object, which the compiler inlines by itself only if handles are codes.
#define ZIPMPI_INLINE_LOOKUP [[gnu::always_inline]]

namespace zipmpi::abi {

inline constexpr uintptr_t codes_end = 0x3000;
inline constexpr uintptr_t first_user_value = 4096; // lower addresses are not mapped

// Kind, class and the lowest byte.
constexpr uintptr_t index_of_code(uintptr_t code) noexcept {
    const auto bits = static_cast<uint32_t>(code);
    return ((bits >> 18) & 0x3f00) | (bits & 0xff);
}

// Index of a predefined handle in tables; codes_end or more for any other. That of communicators and basic
// datatypes needs fewer instructions because their kind and class are compared with constants.
template <class Handle>
inline uintptr_t predefined_index(Handle handle) noexcept {
    if constexpr (std::is_pointer_v<Handle>) {
        return codes_end;
    } else {
        const auto bits = static_cast<uint32_t>(handle);
        if constexpr (std::is_same_v<Handle, MPI_Comm>) {
            constexpr uint32_t first = 0x44000000;
            const uint32_t number = bits - first;
            return number <= 0xff ? index_of_code(first) + number : codes_end;
        }
        if constexpr (std::is_same_v<Handle, MPI_Datatype>) {
            constexpr uint32_t first = 0x4c000000;
            if (bits >> 16 == first >> 16) return index_of_code(first) + (bits & 0xff);
        }
        return index_of_code(bits);
    }
}

// Kind 3 and the class of a handle, as its upper six bits.
constexpr uint32_t user_prefix(core::ObjectKind kind) noexcept {
    constexpr uint32_t user = 0x30;
    switch (kind) {
    case core::ObjectKind::comm:
        return user | 1;
    case core::ObjectKind::group:
        return user | 2;
    case core::ObjectKind::datatype:
        return user | 3;
    case core::ObjectKind::errhandler:
        return user | 5;
    case core::ObjectKind::op:
        return user | 6;
    case core::ObjectKind::info:
        return user | 7;
    case core::ObjectKind::win:
        return user | 8;
    case core::ObjectKind::request:
        return user | 11;
    case core::ObjectKind::message:
        return user | 13; // unused by MPICH
    case core::ObjectKind::session:
        return user | 14;
    default:
        return user;
    }
}

inline constexpr uint32_t indices_end = uint32_t{1} << 26;

// Objects by the index of their handle: the first ones in an array, more in blocks. Grows without moving, so
// that it is read without a lock.
class HandleTable {
  public:
    // Null if the index is too large for a handle.
    core::Object* find(uint32_t index) const noexcept {
        if (index < first_size) [[likely]]
            return first_[index].load(std::memory_order_relaxed);
        return find_in_block(index);
    }
    // Without the blocks, so that no function is called.
    core::Object* find_first(uint32_t index) const noexcept {
        return index < first_size ? first_[index].load(std::memory_order_relaxed) : nullptr;
    }
    void store(uint32_t index, core::Object* object) noexcept {
        Slot& slot = index < first_size ? first_[index] : slot_in_block(index);
        slot.store(object, std::memory_order_relaxed);
    }

  private:
    using Slot = std::atomic<core::Object*>;
    static constexpr uint32_t first_size = 32768; // only used pages need memory
    static constexpr uint32_t block_size = 4096;
    [[gnu::cold]] core::Object* find_in_block(uint32_t index) const noexcept;
    [[gnu::cold]] Slot& slot_in_block(uint32_t index) noexcept;
    Slot first_[first_size];
    std::atomic<Slot*> blocks_[indices_end / block_size];
};

template <core::ObjectKind kind>
inline HandleTable handle_table;

// The object of a handle that is not predefined, or null. Its kind is not checked.
template <core::ObjectKind kind, class Handle>
inline core::Object* user_object(Handle handle) noexcept {
    if constexpr (std::is_pointer_v<Handle>) {
        const auto value = reinterpret_cast<uintptr_t>(handle);
        return value >= first_user_value ? reinterpret_cast<core::Object*>(value) : nullptr;
    } else {
        // A handle of another kind or class has an index that is too large.
        return handle_table<kind>.find(static_cast<uint32_t>(handle) - (user_prefix(kind) << 26));
    }
}
// For fast paths: null also for a handle whose lookup takes longer.
template <core::ObjectKind kind, class Handle>
inline core::Object* quick_user_object(Handle handle) noexcept {
    return handle_table<kind>.find_first(static_cast<uint32_t>(handle) - (user_prefix(kind) << 26));
}
template <core::ObjectKind kind, class Handle>
inline Handle user_handle(core::Object* object) noexcept {
    if constexpr (std::is_pointer_v<Handle>) {
        return reinterpret_cast<Handle>(object);
    } else {
        handle_table<kind>.store(object->index, object);
        return static_cast<Handle>(static_cast<int>(user_prefix(kind) << 26 | object->index));
    }
}

} // namespace zipmpi::abi
