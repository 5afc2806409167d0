// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A process has one MPI library: functions of two would call each other, because they have equal names.
#pragma once

#include "base/err.hpp"

namespace zipmpi::abi {

// Fails if the process has loaded another MPI library, such as one for libraries that were built for another
// MPI, or this one by the name of another.
Err check_single_library() noexcept;

} // namespace zipmpi::abi
