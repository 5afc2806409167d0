// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rank files of Open MPI: which host and CPUs each rank gets. A pure function.
#pragma once

#include "launch/map/policy.hpp"

#include <string_view>

namespace zipmpi::launch {

// Lines "rank 0=HOST slot=0-3", "rank 1=HOST slots=1:0-2", "rank 2=+n1 slot=4"; '#' begins a comment. Every
// rank from 0 on has one line. False: wrong says which line it is, or what is missing.
bool parse_rank_file(std::string_view text, std::vector<PlacementPolicy::RankPlace>& out, std::string& wrong);

} // namespace zipmpi::launch
