// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_Status: 32 bytes aligned to 4. Its private fields hold the byte count and the flag of
// MPI_Test_cancelled; programs and tools may copy it bytewise, so it contains no pointers.
#pragma once

#include "abi/errors.hpp"
#include "core/api/common.hpp"

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

// Leaves MPI_ERROR unchanged, as the standard requires for single completions, except in an empty status,
// where it is MPI_SUCCESS.
inline void put_status(const core::Status& from, MPI_Status& to) noexcept {
    if (from.source == core::any_source && from.tag == core::any_tag) to.MPI_ERROR = MPI_SUCCESS;
    to.MPI_SOURCE = from.source;
    to.MPI_TAG = from.tag;
    set_bytes(to, from.bytes);
    to.MPI_internal[cancelled_at] = static_cast<int>(from.cancelled);
}

inline core::Status get_status(const MPI_Status& from) noexcept {
    core::Status to;
    to.source = from.MPI_SOURCE;
    to.tag = from.MPI_TAG;
    to.bytes = bytes_of(from);
    to.cancelled = from.MPI_internal[cancelled_at] != 0;
    return to;
}

} // namespace zipmpi::abi
