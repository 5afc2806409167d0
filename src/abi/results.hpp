// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Writing results into the caller's variables.
#pragma once

#include "abi/abi_values.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace zipmpi::abi {

// A value that an int cannot hold is given as MPI_UNDEFINED.
inline void put_count(int* out, int64_t value) noexcept {
    const bool fits = value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
    *out = fits ? static_cast<int>(value) : MPI_UNDEFINED;
}
inline void put_count(int64_t* out, int64_t value) noexcept { *out = value; }

inline core::CountArray narrow_array(const int* data) noexcept { return {data, false}; }
inline core::CountArray wide_array(const int64_t* data) noexcept { return {data, true}; }

// MPI_BUFFER_AUTOMATIC on its way in and out.
inline void* own_buffer(void* buffer) noexcept {
    return buffer == MPI_BUFFER_AUTOMATIC ? core::automatic_buffer : buffer;
}
inline void* face_buffer(void* buffer) noexcept {
    return buffer == core::automatic_buffer ? MPI_BUFFER_AUTOMATIC : buffer;
}

// MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY on their way in.
inline const int* own_weights(const int* weights) noexcept {
    if (weights == MPI_UNWEIGHTED) return core::unweighted;
    return weights == MPI_WEIGHTS_EMPTY ? core::weights_empty : weights;
}
inline int* own_weights_out(int* weights) noexcept { return const_cast<int*>(own_weights(weights)); }

template <class E>
int code_of(E own) noexcept {
    for (const auto& row : values::listed(own))
        if (row.own == own) return row.code;
    return MPI_UNDEFINED;
}

// At most size bytes with the final zero; length is what was written without it.
void put_text(const std::string& text, char* out, int size, int* length) noexcept;
// The form of newer functions: size comes in *size, 0 asks for it only; what is needed goes out in it.
void put_bounded_text(const std::string& text, char* out, int* size) noexcept;

} // namespace zipmpi::abi
