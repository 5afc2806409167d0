// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether all processes of a file could do what they had to.
#pragma once

#include "core/io/file.hpp"

namespace zipmpi::core::io {

// The own error, or that of the lowest rank that has one: "rank 3 could not OPEN THE FILE".
Err agree(File& file, Err mine, const char* task);
// The same if only the first process had something to do.
Err agree_with_first(File& file, Err mine, const char* task);
// An argument of a collective call that must be the same on all processes.
Err check_same(File& file, int64_t value, const char* what);

} // namespace zipmpi::core::io
