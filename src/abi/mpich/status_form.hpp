// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_Status of MPICH: 20 bytes aligned to 4. The lowest bit of the second word is the cancelled flag, the
// others are the upper bits of the byte count.
#pragma once

#include "abi/abi_values.hpp"

namespace zipmpi::abi {

static_assert(sizeof(MPI_Status) == 20);

inline int64_t bytes_of(const MPI_Status& status) noexcept {
    const auto high = static_cast<uint64_t>(static_cast<uint32_t>(status.count_high_and_cancelled) >> 1);
    return static_cast<int64_t>(high << 32 | static_cast<uint32_t>(status.count_low));
}
inline bool is_cancelled(const MPI_Status& status) noexcept {
    return (status.count_high_and_cancelled & 1) != 0;
}
inline void set_result(MPI_Status& status, int64_t bytes, bool cancelled) noexcept {
    const auto bits = static_cast<uint64_t>(bytes);
    status.count_low = static_cast<int>(static_cast<uint32_t>(bits));
    const auto high = static_cast<uint32_t>(bits >> 32) << 1;
    status.count_high_and_cancelled = static_cast<int>(high | static_cast<uint32_t>(cancelled));
}
inline void set_bytes(MPI_Status& status, int64_t bytes) noexcept {
    set_result(status, bytes, is_cancelled(status));
}
inline void set_cancelled(MPI_Status& status, bool cancelled) noexcept {
    const auto high = static_cast<uint32_t>(status.count_high_and_cancelled) & ~uint32_t{1};
    status.count_high_and_cancelled = static_cast<int>(high | static_cast<uint32_t>(cancelled));
}

inline int source_of_core(int rank) noexcept { return values::to_abi_rank(rank); }
inline int source_to_core(int rank) noexcept { return values::from_abi_rank(rank); }
inline int tag_of_core(int tag) noexcept { return values::to_abi_tag(tag); }
inline int tag_to_core(int tag) noexcept { return values::from_abi_tag(tag); }

} // namespace zipmpi::abi
