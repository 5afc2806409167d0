// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Every message that a user may read has the same four parts: what failed, where, why, and what to do.
// The library and the launcher write nothing else of their own to stderr; mpiexec passes on what ranks write.
#pragma once

#include <string>

namespace zipmpi {

struct Problem {
    std::string what;  // "MPI_Send failed: MPI_ERR_RANK (the rank is not in the communicator)"
    std::string where; // "rank 1 of 4, host node7, pid 4711"
    std::string why;   // "destination 9 is not in MPI_COMM_WORLD, which has 4 ranks"
    std::string todo;  // "pass a rank from 0 to 3, or MPI_PROC_NULL"
};

// "program: what", then lines "  where:", "  why:" and "  do:" for the parts that are not empty.
std::string format(const Problem& p, const char* program = "zipmpi");

// Writes it to stderr in one write(2), so that the lines of several ranks do not mix.
void report(const Problem& p, const char* program = "zipmpi") noexcept;

} // namespace zipmpi
