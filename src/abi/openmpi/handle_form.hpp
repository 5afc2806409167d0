// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Handles of Open MPI: a predefined handle is the address of an exported object whose first word is the code
// of the handle in the standard ABI. Any other is the address of a core object, whose first word is larger
// because it begins with the kind tag. A program may have copied a predefined object, so input is recognized
// by the first word, never by the address.
#pragma once

#include "abi/mpi_abi.hpp"
#include "core/object.hpp"

#include <cstdint>

// Attribute of the lookup of an object, which the compiler inlines by itself only if handles are codes.
#define ZIPMPI_INLINE_LOOKUP [[gnu::always_inline]]

namespace zipmpi::abi {

inline constexpr uintptr_t codes_end = 1024;
inline constexpr uintptr_t first_user_value = 4096; // lower addresses are not mapped

// Index of a predefined handle in tables; codes_end or more for any other.
template <class Handle>
inline uintptr_t predefined_index(Handle handle) noexcept {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    return value >= first_user_value ? *reinterpret_cast<const uintptr_t*>(value) : codes_end;
}
constexpr uintptr_t index_of_code(uintptr_t code) noexcept { return code; }

// The object of a handle that is not predefined, or null. Its kind is not checked.
template <core::ObjectKind kind, class Handle>
inline core::Object* user_object(Handle handle) noexcept {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    return value >= first_user_value ? reinterpret_cast<core::Object*>(value) : nullptr;
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
