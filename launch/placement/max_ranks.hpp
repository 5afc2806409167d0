// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Limit of the size of a job.
#pragma once

#include "base/diagnostic.hpp"

#include <cstdint>
#include <string>

namespace zipmpi::launch {

// mpiexec and `zipmpi map` keep about 80 bytes per rank: 80 MB at this limit, which also bounds the cost of a
// mistyped number. It is what 98 full hosts hold.
inline constexpr uint32_t max_ranks = 1'000'000;

// Returns false and the reason if there are more ranks.
inline bool check_rank_count(uint64_t ranks, const std::string& where, Diagnostic& why) {
    if (ranks <= max_ranks) return true;
    why = {"too many ranks", where,
           std::to_string(ranks) + " ranks; a job has at most " + std::to_string(max_ranks),
           "write a smaller number"};
    return false;
}

} // namespace zipmpi::launch
