// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Integer form of handles, which Fortran uses: predefined handles have fixed numbers below 4096 for each
// type, those of objects follow.
#pragma once

#include "abi/handle_types.hpp"

namespace zipmpi::abi::custom {

// The number of a predefined handle, or -1.
int fortran_number(uintptr_t index) noexcept;
// The predefined handle with this number, or null.
void* fortran_object(core::ObjectKind kind, int number) noexcept;

// Returns -1 for an invalid handle.
template <class Handle>
int to_int(Handle handle) noexcept {
    const uintptr_t index = predefined_index(handle);
    if (index < codes_end) return fortran_number(index);
    auto* const object = find<typename ClassOf<Handle>::Type>(handle);
    return object != nullptr ? static_cast<int>(first_user_value + as_object(object)->index) : -1;
}

// Returns null, which is never a handle, for an invalid number.
template <class Handle>
Handle from_int(int number) noexcept {
    using Traits = HandleTraits<typename ClassOf<Handle>::Type>;
    if (number < static_cast<int>(first_user_value))
        return reinterpret_cast<Handle>(fortran_object(Traits::class_id, number));
    const auto index = static_cast<uint32_t>(number) - static_cast<uint32_t>(first_user_value);
    return reinterpret_cast<Handle>(core::object_by_index(Traits::class_id, index));
}

} // namespace zipmpi::abi::custom
