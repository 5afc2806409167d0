// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sizes of predefined datatypes, for fast paths.
#pragma once

#include "abi/handles.hpp"

namespace zipmpi::abi {

// By the index of a predefined datatype: element size, and a bit if the CPU can update elements atomically.
// 0: noncontiguous, longer than a cache line, or not looked up yet.
inline constexpr uint8_t cpu_atomic_bit = 0x80;
[[gnu::visibility("hidden")]] extern std::atomic<uint8_t> type_info_table[codes_end];

inline unsigned predefined_type_info(MPI_Datatype type) noexcept {
    const uintptr_t index = predefined_index(type);
    return index < codes_end ? type_info_table[index].load(std::memory_order_relaxed) : 0;
}

// 0: as in type_info_table, or not predefined.
inline unsigned predefined_size(MPI_Datatype type) noexcept {
    return predefined_type_info(type) & ~unsigned{cpu_atomic_bit};
}

// False for null and the special addresses of the ABI.
inline bool is_memory(const void* buffer) noexcept {
    return reinterpret_cast<uintptr_t>(buffer) >= first_user_value;
}

} // namespace zipmpi::abi
