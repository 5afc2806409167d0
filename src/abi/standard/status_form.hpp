// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_Status of the standard ABI: 32 bytes aligned to 4. Its private fields hold the byte count and the flag
// of MPI_Test_cancelled; programs and tools may copy it bytewise, so it contains no pointers.
#pragma once

#include "abi/mpi_abi.hpp"

#include <cstring>

namespace zipmpi::abi {

static_assert(sizeof(MPI_Status) == 32);
inline constexpr int bytes_at = 0; // in MPI_internal; two ints
inline constexpr int cancelled_at = 2;

inline int64_t bytes_of(const MPI_Status& status) noexcept {
    int64_t bytes;
    std::memcpy(&bytes, &status.MPI_internal[bytes_at], sizeof bytes);
    return bytes;
}
inline void set_bytes(MPI_Status& status, int64_t bytes) noexcept {
    std::memcpy(&status.MPI_internal[bytes_at], &bytes, sizeof bytes);
}
inline bool is_cancelled(const MPI_Status& status) noexcept { return status.MPI_internal[cancelled_at] != 0; }
inline void set_cancelled(MPI_Status& status, bool cancelled) noexcept {
    status.MPI_internal[cancelled_at] = static_cast<int>(cancelled);
}
inline void set_result(MPI_Status& status, int64_t bytes, bool cancelled) noexcept {
    set_bytes(status, bytes);
    set_cancelled(status, cancelled);
}

// Rank and tag have core's encoding.
constexpr int source_of_core(int rank) noexcept { return rank; }
constexpr int source_to_core(int rank) noexcept { return rank; }
constexpr int tag_of_core(int tag) noexcept { return tag; }
constexpr int tag_to_core(int tag) noexcept { return tag; }

} // namespace zipmpi::abi
