// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Making an assignment better, step by step: ranks change places, or go where there is room. Pure.
#pragma once

#include "mapping/targets.hpp"

namespace zipmpi::mapping {

// Goes down until no exchange of two ranks, and no move, is a gain, or `looks` pairs have been looked at. The
// result is never worse. Without enough memory for a table of ranks times targets it changes nothing.
void descend(const Graph& graph, const Targets& targets, Assignment& assignment, uint64_t looks);

// The same, then again and again from a place nearby, which is left if it leads to nothing. What it does
// depends on the seed only.
void search(const Graph& graph, const Targets& targets, Assignment& assignment, uint64_t looks,
            uint64_t seed);

} // namespace zipmpi::mapping
