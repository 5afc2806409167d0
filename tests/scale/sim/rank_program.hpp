// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What one virtual rank does in a collective: the steps of its schedule, without data.
#pragma once

#include <cstdint>
#include <vector>

namespace zipmpi::sim {

struct Action {
    enum class Kind : uint8_t { send, recv, copy, combine, wait };
    Kind kind = Kind::wait;
    int32_t peer = -1; // of messages: rank
    uint64_t bytes = 0;
};

using RankProgram = std::vector<Action>;

} // namespace zipmpi::sim
