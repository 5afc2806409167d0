// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Integer form of handles, which Fortran uses: the handle itself. That of a file follows from its index.
#pragma once

#include "abi/handle_types.hpp"

namespace zipmpi::abi::custom {

template <class Handle>
int to_int(Handle handle) noexcept {
    if constexpr (std::is_pointer_v<Handle>) {
        auto* const object = find<typename ClassOf<Handle>::Type>(handle);
        return object != nullptr ? static_cast<int>(as_object(object)->index) + 1 : 0;
    } else {
        return static_cast<int>(handle);
    }
}

template <class Handle>
Handle from_int(int number) noexcept {
    if constexpr (std::is_pointer_v<Handle>) {
        using Traits = HandleTraits<typename ClassOf<Handle>::Type>;
        if (number <= 0) return Traits::null();
        return reinterpret_cast<Handle>(
            core::object_by_index(Traits::class_id, static_cast<uint32_t>(number) - 1));
    } else {
        return static_cast<Handle>(number);
    }
}

} // namespace zipmpi::abi::custom
