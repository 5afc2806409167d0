// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Storing results in the caller's variables.
#pragma once

#include "abi/abi_values.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace zipmpi::abi {

// A value that does not fit into an int is returned as MPI_UNDEFINED.
inline void put_count(int* out, int64_t value) noexcept {
    const bool fits = value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
    *out = fits ? static_cast<int>(value) : MPI_UNDEFINED;
}
inline void put_count(int64_t* out, int64_t value) noexcept { *out = value; }

inline core::CountArray narrow_array(const int* data) noexcept { return {data, false}; }
inline core::CountArray wide_array(const int64_t* data) noexcept { return {data, true}; }

// Conversion of MPI_BUFFER_AUTOMATIC in both directions.
inline void* from_abi_buffer(void* buffer) noexcept {
    return buffer == MPI_BUFFER_AUTOMATIC ? core::automatic_buffer : buffer;
}
inline void* to_abi_buffer(void* buffer) noexcept {
    return buffer == core::automatic_buffer ? MPI_BUFFER_AUTOMATIC : buffer;
}

// Conversion of MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY.
inline const int* from_abi_weights(const int* weights) noexcept {
    if (weights == MPI_UNWEIGHTED) return core::unweighted;
    return weights == MPI_WEIGHTS_EMPTY ? core::weights_empty : weights;
}
inline int* from_abi_weights_out(int* weights) noexcept {
    return const_cast<int*>(from_abi_weights(weights));
}

template <class E>
int code_of(E value) noexcept {
    for (const auto& row : values::enum_codes(value))
        if (row.value == value) return row.code;
    return MPI_UNDEFINED;
}

// Writes at most size bytes including the final zero; length excludes it.
void put_text(const std::string& text, char* out, int size, int* length) noexcept;
// For newer functions: *size is the capacity on input, where 0 queries the size, and the required size on
// output.
void put_bounded_text(const std::string& text, char* out, int* size) noexcept;

} // namespace zipmpi::abi
