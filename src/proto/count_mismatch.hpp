// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The error of a collective whose ranks pass different amounts of data, wherever it is detected.
#pragma once

#include "base/err.hpp"

#include <cstdint>

namespace zipmpi::proto {

// `rank` of the communicator has sent another number of bytes than this rank expects.
[[gnu::cold]] Err count_mismatch(Err code, int rank, uint64_t sent, uint64_t expected);

} // namespace zipmpi::proto
