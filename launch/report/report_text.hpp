// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Texts shared by the reports.
#pragma once

#include "launch/report/snapshot.hpp"

#include <string>
#include <vector>

namespace zipmpi::launch {

// "0,2-3" for ascending ranks
std::string rank_list(const std::vector<int>& ranks);
// "rank 3" or "ranks 0,2-3"
std::string ranks_text(const std::vector<int>& ranks);
// "MPI_Recv (peer 3, tag 7, MPI_COMM_WORLD)"
std::string call_text(const RankSnapshot& p);
// State of a rank: "waits in MPI_Recv for a message from rank 3, tag 7 (MPI_COMM_WORLD)"; for several ranks
// "wait in"
std::string state_text(const RankSnapshot& p, bool several = false);
std::string ordinal(uint32_t n); // 1st, 2nd, 3rd, 4th, 11th

} // namespace zipmpi::launch
