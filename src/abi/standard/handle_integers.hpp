// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Integer form of handles, which Fortran uses.
#pragma once

#include "abi/handle_types.hpp"

namespace zipmpi::abi::custom {

// Integer form of a handle: a code is its own integer; the integers of objects follow the codes. Returns 0,
// which is never a handle, for an invalid handle.
template <class Handle>
int to_int(Handle handle) noexcept {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    if (value < first_user_value) return static_cast<int>(value);
    auto* const object = find<typename ClassOf<Handle>::Type>(handle);
    return object != nullptr ? static_cast<int>(first_user_value + as_object(object)->index) : 0;
}

template <class Handle>
Handle from_int(int number) noexcept {
    using Traits = HandleTraits<typename ClassOf<Handle>::Type>;
    if (number >= 0 && static_cast<uintptr_t>(number) < first_user_value)
        return reinterpret_cast<Handle>(static_cast<uintptr_t>(number));
    const auto index = static_cast<uint32_t>(number) - static_cast<uint32_t>(first_user_value);
    core::Object* const object = number > 0 ? core::object_by_index(Traits::class_id, index) : nullptr;
    return object != nullptr ? reinterpret_cast<Handle>(object) : Traits::null();
}

} // namespace zipmpi::abi::custom
