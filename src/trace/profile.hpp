// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Time, calls and bytes by function, and the table that --profile prints.
#pragma once

#include "names/function_table.hpp"

#include <cstdint>
#include <string>

namespace zipmpi::trace {

struct FunctionUse {
    uint64_t calls, ticks, bytes;
};

// Sums over all ranks and maxima of single ranks, by MPI_Reduce: doubles only.
struct ProfileSums {
    double run_seconds, mpi_seconds; // from the end of MPI_Init to the start of MPI_Finalize
    struct Function {
        double calls, seconds, bytes;
    } functions[names::function_count + 1];
};
struct ProfileMaxima {
    double highest, lowest; // share of time in MPI and its rank: share_and_rank(), of -share for the lowest
    double run_seconds;
    double seconds[names::function_count + 1];
};

// A share of 0 to 1 and a rank as one number that orders by the share.
double share_and_rank(double share, uint32_t rank) noexcept;

std::string profile_text(const ProfileSums& sums, const ProfileMaxima& maxima, uint32_t ranks);

} // namespace zipmpi::trace
