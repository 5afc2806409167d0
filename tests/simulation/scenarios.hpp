// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What can be simulated.
#pragma once

#include "simulator.hpp"

#include <span>

namespace zipmpi::simulation {

struct Scenario {
    const char* name;
    std::string (*run)(uint64_t seed, Trace trace); // the violation; empty: none
};

std::span<const Scenario> scenarios();
const Scenario* find_scenario(const char* name); // null: none

} // namespace zipmpi::simulation
