// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Built-in costs, used without a cost file. same_core was measured by `zipmpi tune`, except for its
// cooperative copies, which are estimated. shared_l3 was measured on a busy machine, so it uses the lowest
// decile of the samples instead of their median (docs/decisions/0010). The other classes are from the model.
#include "base/param.hpp"
#include "proto/select/cost.hpp"
#include "proto/select/model.hpp"

namespace zipmpi::proto {
namespace {

// Without a second CPU a cooperative copy is a CMA copy plus the cost of an unused offer.
constexpr PairCosts same_core{
    .inline_ns = 1070,
    .extra_slot_ns = 5,
    .cell = {{1060, 26, 71, 8 * KiB}, {1040, 24, 66, 4 * KiB}},
    .fragments = {{2950, 72, 140, 256 * KiB}, {3070, 75, 172, 256 * KiB}},
    .cma = {{1790, 61, 129, 256 * KiB}, {1810, 60, 170, 256 * KiB}},
    .arena = {{1040, 31, 106, 512 * KiB}, {1000, 38, 120, 512 * KiB}},
    .coop = {{2900, 61, 129, 256 * KiB}, {2900, 60, 170, 256 * KiB}},
    .fragment_bytes = 16 * KiB,
    .window_bytes = 128 * KiB,
};

// Fitted to points from 1 KiB to 1 MiB (coop: from 48 KiB), hence a start of 0.
constexpr PairCosts shared_l3{
    .inline_ns = 115,
    .extra_slot_ns = 24,
    .cell = {{273, 121, 175, 3 * KiB}, {265, 123, 178, 3 * KiB}},
    .fragments = {{507, 178, 92, 16 * KiB}, {522, 172, 95, 32 * KiB}},
    .cma = {{1059, 176, 130, 16 * KiB}, {909, 64, 98, 256 * KiB}},
    .arena = {{191, 130, 101, 16 * KiB}, {159, 10, 51, 16 * KiB}},
    .coop = {{4084, 30, 72, 64 * KiB}, {0, 68, 48, 256 * KiB}},
    .fragment_bytes = 32 * KiB - 64,
    .window_bytes = 256 * KiB,
};

constexpr PairCosts table[hwtopo::pair_classes] = {
    same_core,
    modeled(shared_l2_distance),
    shared_l3,
    modeled(same_numa_distance),
    modeled(other_numa_distance),
};

} // namespace

const PairCosts& built_in_costs(PairClass pair) { return table[static_cast<size_t>(pair)]; }

} // namespace zipmpi::proto
