// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Handles of the standard ABI: a value below 4096 is the code of a predefined handle, any other is the
// address of a core object, which begins with its Object.
#pragma once

#include "abi/mpi_abi.hpp"
#include "core/object.hpp"

#include <cstdint>

// Attribute of the lookup of an object, which the compiler inlines by itself only if handles are codes.
#define ZIPMPI_INLINE_LOOKUP

namespace zipmpi::abi {

inline constexpr uintptr_t codes_end = 1024;        // predefined handles have ten bits
inline constexpr uintptr_t first_user_value = 4096; // lower values are reserved by the standard

// Index of a predefined handle in tables; codes_end or more for any other.
template <class Handle>
inline uintptr_t predefined_index(Handle handle) noexcept {
    return reinterpret_cast<uintptr_t>(handle);
}
constexpr uintptr_t index_of_code(uintptr_t code) noexcept { return code; }

// The object of a handle that is not predefined, or null. Its kind is not checked.
template <core::ObjectKind kind, class Handle>
inline core::Object* user_object(Handle handle) noexcept {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    const bool is_address = value >= first_user_value && value % alignof(core::Object) == 0;
    return is_address ? reinterpret_cast<core::Object*>(value) : nullptr;
}
// For fast paths: null also for a handle whose lookup takes longer; here none.
template <core::ObjectKind kind, class Handle>
inline core::Object* quick_user_object(Handle handle) noexcept {
    return user_object<kind>(handle);
}
template <core::ObjectKind kind, class Handle>
inline Handle user_handle(core::Object* object) noexcept {
    return reinterpret_cast<Handle>(object);
}

} // namespace zipmpi::abi
