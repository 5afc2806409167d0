// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Local search on an assignment: exchanges of two ranks, and moves to targets with free capacity. Pure.
#pragma once

#include "mapping/targets.hpp"

namespace zipmpi::mapping {

// Descends until no exchange and no move reduces the cost, or `budget` pairs have been evaluated. The result
// is never worse. The ranks below `first_movable` keep their targets. No effect if the table of ranks times
// targets would be too large.
void descend(const Graph& graph, const Targets& targets, Assignment& assignment, uint64_t budget,
             uint32_t first_movable = 0);

// Descends, then repeats the descent from perturbed assignments and keeps improvements. Deterministic for a
// given seed.
void search(const Graph& graph, const Targets& targets, Assignment& assignment, uint64_t budget,
            uint64_t seed);

} // namespace zipmpi::mapping
