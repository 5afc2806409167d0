// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Costs that hold where nobody has measured. same_core and shared_l3 were measured by `zipmpi tune`
// (docs/decisions/0010 has the figures); the other classes are estimates from them.
#include "base/param.hpp"
#include "proto/select/cost.hpp"

namespace zipmpi::proto {
namespace {

constexpr uint64_t scaled(uint64_t value, uint64_t percent) { return value * percent / 100; }

constexpr Curve scaled(Curve c, uint64_t start, uint64_t bytes) {
    return {scaled(c.start_ns, start), scaled(c.cached_ps, bytes), scaled(c.beyond_ps, bytes),
            c.cached_bytes};
}

constexpr PathCost scaled(PathCost p, uint64_t start, uint64_t bytes) {
    return {scaled(p.fresh, start, bytes), scaled(p.kept, start, bytes)};
}

// In percent of another class: what a message costs to begin with, and per byte.
constexpr PairCosts like(const PairCosts& c, uint64_t start, uint64_t bytes, uint64_t window) {
    return {scaled(c.line_ns, start),
            scaled(c.more_line_ns, start),
            scaled(c.cell, start, bytes),
            scaled(c.fragments, start, bytes),
            scaled(c.kernel, start, bytes),
            scaled(c.direct, start, bytes),
            c.fragment_bytes,
            window};
}

constexpr PairCosts same_core{
    .line_ns = 1070,
    .more_line_ns = 5,
    .cell = {{1060, 26, 71, 8 * KiB}, {1040, 24, 66, 4 * KiB}},
    .fragments = {{2950, 72, 140, 256 * KiB}, {3070, 75, 172, 256 * KiB}},
    .kernel = {{1790, 61, 129, 256 * KiB}, {1810, 60, 170, 256 * KiB}},
    .direct = {{1040, 31, 106, 512 * KiB}, {1000, 38, 120, 512 * KiB}},
    .fragment_bytes = 16 * KiB,
    .window_bytes = 128 * KiB,
};

constexpr PairCosts shared_l3{
    .line_ns = 180,
    .more_line_ns = 41,
    .cell = {{340, 258, 190, 8 * KiB}, {344, 255, 179, 8 * KiB}},
    .fragments = {{1046, 218, 90, 16 * KiB}, {1043, 221, 103, 16 * KiB}},
    .kernel = {{1225, 212, 149, 16 * KiB}, {990, 58, 140, 256 * KiB}},
    .direct = {{442, 176, 101, 8 * KiB}, {168, 31, 122, 512 * KiB}},
    .fragment_bytes = 32 * KiB - 64,
    .window_bytes = 256 * KiB,
};

constexpr PairCosts table[topo::pair_classes] = {
    same_core,
    like(shared_l3, 60, 80, 256 * KiB),
    shared_l3,
    like(shared_l3, 140, 120, 512 * KiB),
    like(shared_l3, 200, 160, 512 * KiB),
};

} // namespace

const PairCosts& built_in_costs(PairClass pair) { return table[static_cast<size_t>(pair)]; }

} // namespace zipmpi::proto
