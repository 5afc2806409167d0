// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_Status of Open MPI: 24 bytes aligned to 8.
#pragma once

#include "abi/abi_values.hpp"

namespace zipmpi::abi {

static_assert(sizeof(MPI_Status) == 24);

inline int64_t bytes_of(const MPI_Status& status) noexcept { return static_cast<int64_t>(status.bytes); }
inline void set_bytes(MPI_Status& status, int64_t bytes) noexcept {
    status.bytes = static_cast<uint64_t>(bytes);
}
inline bool is_cancelled(const MPI_Status& status) noexcept { return status.cancelled != 0; }
inline void set_cancelled(MPI_Status& status, bool cancelled) noexcept {
    status.cancelled = static_cast<int>(cancelled);
}
inline void set_result(MPI_Status& status, int64_t bytes, bool cancelled) noexcept {
    set_bytes(status, bytes);
    set_cancelled(status, cancelled);
}

inline int source_of_core(int rank) noexcept { return values::to_abi_rank(rank); }
inline int source_to_core(int rank) noexcept { return values::from_abi_rank(rank); }
inline int tag_of_core(int tag) noexcept { return values::to_abi_tag(tag); }
inline int tag_to_core(int tag) noexcept { return values::from_abi_tag(tag); }

} // namespace zipmpi::abi
