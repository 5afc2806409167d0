// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Conversion between MPI_Status, whose layout is defined by the binding (status_form.hpp), and core's Status.
#pragma once

#include "abi/errors.hpp"
#include "binding/status_form.hpp"
#include "core/api/common.hpp"

namespace zipmpi::abi {

// Leaves MPI_ERROR unchanged, as the standard requires for single completions, except in an empty status,
// where it is MPI_SUCCESS.
inline void put_status(const core::Status& from, MPI_Status& to) noexcept {
    if (from.source == core::any_source && from.tag == core::any_tag) to.MPI_ERROR = MPI_SUCCESS;
    to.MPI_SOURCE = source_of_core(from.source);
    to.MPI_TAG = tag_of_core(from.tag);
    set_result(to, from.bytes, from.cancelled);
}

// The status of a message from a rank, for fast paths: ranks and tags are the same in all ABIs.
[[gnu::always_inline]] inline void put_received(int source, int tag, int64_t bytes, MPI_Status& to) noexcept {
    to.MPI_SOURCE = source;
    to.MPI_TAG = tag;
    set_result(to, bytes, false);
}

inline core::Status get_status(const MPI_Status& from) noexcept {
    core::Status to;
    to.source = source_to_core(from.MPI_SOURCE);
    to.tag = tag_to_core(from.MPI_TAG);
    to.bytes = bytes_of(from);
    to.cancelled = is_cancelled(from);
    return to;
}

} // namespace zipmpi::abi
