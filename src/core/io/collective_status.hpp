// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Agreement on whether all processes of a file succeeded.
#pragma once

#include "core/io/file.hpp"

namespace zipmpi::core::io {

// The error of this process, or that of the lowest rank with an error: "rank 3 could not OPEN THE FILE".
Err collective_status(File& file, Err own_error, const char* task);
// The outcome if only rank 0 had to do something.
Err root_status(File& file, Err own_error, const char* task);
// Checks an argument that must be equal on all processes.
Err check_same(File& file, int64_t value, const char* what);

} // namespace zipmpi::core::io
