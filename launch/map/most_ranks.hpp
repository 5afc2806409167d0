// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How large a job may be.
#pragma once

#include "base/problem.hpp"

#include <cstdint>
#include <string>

namespace zipmpi::launch {

// mpiexec and `zipmpi map` keep some 80 bytes for each rank of a job: with so many it is 80 MB, and a number
// that was mistyped takes no more. It is also more than 244 hosts of 4096 ranks each can hold.
inline constexpr uint32_t most_ranks = 1'000'000;

// False, with the reason: more ranks than that.
inline bool few_enough(uint64_t ranks, const std::string& where, Problem& why) {
    if (ranks <= most_ranks) return true;
    why = {"too many ranks", where,
           std::to_string(ranks) + " ranks; a job has at most " + std::to_string(most_ranks),
           "write a smaller number"};
    return false;
}

} // namespace zipmpi::launch
