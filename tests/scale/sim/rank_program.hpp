// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What one virtual rank does in a collective: the steps of its schedule, without data.
#pragma once

#include <cstdint>
#include <vector>

namespace zipmpi::sim {

// All actions of all ranks are in memory at once: up to 10^9.
struct Action {
    enum class Kind : uint8_t { send, recv, copy, combine, wait };
    Kind kind : 4 = Kind::wait;
    int32_t peer : 28 = -1; // of messages: rank
    uint32_t bytes = 0;
};
static_assert(sizeof(Action) == 8);

using RankProgram = std::vector<Action>;

} // namespace zipmpi::sim
