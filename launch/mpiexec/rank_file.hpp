// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rank files of Open MPI: host and CPUs of each rank. A pure function.
#pragma once

#include "launch/placement/placement_policy.hpp"

#include <string_view>

namespace zipmpi::launch {

// Lines "rank 0=HOST slot=0-3", "rank 1=HOST slots=1:0-2", "rank 2=+n1 slot=4"; '#' starts a comment. Each
// rank from 0 on has one line. Returns false and sets `wrong` to the line or to what is missing.
bool parse_rank_file(std::string_view text, std::vector<PlacementPolicy::RankFileEntry>& out,
                     std::string& wrong);

} // namespace zipmpi::launch
