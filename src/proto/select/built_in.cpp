// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Costs that hold where nobody has measured. same_core was measured by `zipmpi tune`, but for its joint
// copies, which are estimated; shared_l3 with the same paths on a busy machine, hence from the lowest tenth
// of the samples instead of their median (docs/decisions/0010). The other classes follow from the model.
#include "base/param.hpp"
#include "proto/select/cost.hpp"
#include "proto/select/model.hpp"

namespace zipmpi::proto {
namespace {

// There is no second CPU to copy with: a joint copy is a kernel copy that offers chunks in vain.
constexpr PairCosts same_core{
    .line_ns = 1070,
    .more_line_ns = 5,
    .cell = {{1060, 26, 71, 8 * KiB}, {1040, 24, 66, 4 * KiB}},
    .fragments = {{2950, 72, 140, 256 * KiB}, {3070, 75, 172, 256 * KiB}},
    .kernel = {{1790, 61, 129, 256 * KiB}, {1810, 60, 170, 256 * KiB}},
    .direct = {{1040, 31, 106, 512 * KiB}, {1000, 38, 120, 512 * KiB}},
    .joint = {{2900, 61, 129, 256 * KiB}, {2900, 60, 170, 256 * KiB}},
    .fragment_bytes = 16 * KiB,
    .window_bytes = 128 * KiB,
};

// Curves through points from 1 KiB to 1 MiB (joint: from 48 KiB), hence a start of 0.
constexpr PairCosts shared_l3{
    .line_ns = 115,
    .more_line_ns = 24,
    .cell = {{273, 121, 175, 3 * KiB}, {265, 123, 178, 3 * KiB}},
    .fragments = {{507, 178, 92, 16 * KiB}, {522, 172, 95, 32 * KiB}},
    .kernel = {{1059, 176, 130, 16 * KiB}, {909, 64, 98, 256 * KiB}},
    .direct = {{191, 130, 101, 16 * KiB}, {159, 10, 51, 16 * KiB}},
    .joint = {{4084, 30, 72, 64 * KiB}, {0, 68, 48, 256 * KiB}},
    .fragment_bytes = 32 * KiB - 64,
    .window_bytes = 256 * KiB,
};

constexpr PairCosts table[topo::pair_classes] = {
    same_core,
    modeled(shared_l2_distance),
    shared_l3,
    modeled(same_numa_distance),
    modeled(other_numa_distance),
};

} // namespace

const PairCosts& built_in_costs(PairClass pair) { return table[static_cast<size_t>(pair)]; }

} // namespace zipmpi::proto
