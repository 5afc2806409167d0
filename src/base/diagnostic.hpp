// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// User-visible message with four parts: what failed, where, why, and the fix. The library and the launcher
// write nothing else to stderr; mpiexec forwards the output of ranks.
#pragma once

#include <string>

namespace zipmpi {

struct Diagnostic {
    std::string what;  // "MPI_Send failed: MPI_ERR_RANK (the rank is not in the communicator)"
    std::string where; // "rank 1 of 4, host node7, pid 4711"
    std::string why;   // "destination 9 is not in MPI_COMM_WORLD, which has 4 ranks"
    std::string fix;   // "pass a rank from 0 to 3, or MPI_PROC_NULL"
};

// "program: what", then lines "  where:", "  why:" and "  fix:" for nonempty parts.
std::string format(const Diagnostic& p, const char* program = "zipmpi");

// Writes the message to stderr in one write(2), so that lines of several ranks do not interleave.
void report(const Diagnostic& p, const char* program = "zipmpi") noexcept;

} // namespace zipmpi
