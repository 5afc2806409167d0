// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/select/select.hpp"

#include "base/param.hpp"
#include "proto/p2p/chunks.hpp"
#include "wire/envelope.hpp"

#include <algorithm>

namespace zipmpi::proto {
namespace {

// thresholds_from(built_in_costs()), computed in advance to save every rank the work at startup; a unit test
// compares the two.
constexpr Thresholds built_in[hwtopo::pair_classes] = {
    // eager_limit, cma_min, cma_max, fragment_bytes, window_bytes,
    // arena_min, coop_min, coop_max, coop_arena_min, {fragment_cost}
    {32704, 1024, UINT64_MAX, 16384, 131072, 19521, UINT64_MAX, 0, UINT64_MAX, {1880, 72, 140, 262144}},
    {32553, 22609, 655554, 32704, 262144, 2048, UINT64_MAX, 0, UINT64_MAX, {270, 87, 75, 524288}},
    {7131, 3584, 3683010, 32704, 262144, 2048, 49152, UINT64_MAX, 248935, {392, 178, 92, 16384}},
    {3004, 1254, UINT64_MAX, 32704, 524288, 2048, 49152, UINT64_MAX, 49152, {612, 297, 180, 16384}},
    {2005, 1024, UINT64_MAX, 32704, 524288, 2048, 49152, UINT64_MAX, 49152, {780, 413, 250, 16384}},
};

constexpr int64_t by_cost = -1;

// A noncontiguous message in several cells is packed and unpacked concurrently. That is worth a rendezvous
// above noncontig_pipeline_min; its fragments have noncontig_fragment_size or up to twice as much.
constexpr uint64_t noncontig_pipeline_min = 16 * KiB;
constexpr uint64_t noncontig_fragment_size = 8 * KiB;

Param<int64_t> eager_limit{"p2p.eager_limit",
                           by_cost,
                           {by_cost, 16 * MiB},
                           Unit::bytes,
                           Level::tuner,
                           Scope::local,
                           "largest eager message within a node, at most one cell; -1: from the cost model"};

Param<int64_t> cma_min{"p2p.cma_min",
                       by_cost,
                       {by_cost, INT64_MAX},
                       Unit::bytes,
                       Level::tuner,
                       Scope::local,
                       "smallest message received by CMA, if above p2p.eager_limit; also bounds cooperative "
                       "copies unless p2p.coop_copy_min is set; -1: from the cost model"};

Param<int64_t> coop_min{
    "p2p.coop_copy_min",
    by_cost,
    {by_cost, INT64_MAX},
    Unit::bytes,
    Level::tuner,
    Scope::local,
    "smallest message, above 32 KiB, copied by sender and receiver together; -1: from the cost model"};

} // namespace

const Thresholds& thresholds_for(PairClass pair) { return built_in[static_cast<size_t>(pair)]; }

Thresholds apply_overrides(Thresholds t, uint64_t cell_bytes) {
    if (eager_limit != by_cost) t.eager_limit = static_cast<uint64_t>(eager_limit.get());
    if (cma_min != by_cost) {
        t.cma_min = static_cast<uint64_t>(cma_min.get());
        t.cma_max = UINT64_MAX;
        t.fragment_cost.start_ns = UINT32_MAX; // CMA is never judged slower
    }
    if (cma_min != by_cost && coop_min == by_cost) // cooperative copies use CMA too
        t.coop_min = std::max(t.coop_min, t.cma_min);
    if (coop_min != by_cost) {
        t.coop_min = t.coop_arena_min = static_cast<uint64_t>(coop_min.get());
        t.coop_max = UINT64_MAX;
    }
    t.coop_min = std::max(t.coop_min, min_coop_bytes);
    t.coop_arena_min = std::max(t.coop_arena_min, t.coop_min);
    t.coop_max = std::min(t.coop_max, max_coop_bytes);
    t.eager_limit = std::clamp<uint64_t>(t.eager_limit, wire::inline_max, cell_bytes);
    t.fragment_bytes = std::clamp<uint64_t>(t.fragment_bytes, 1, cell_bytes);
    t.window_bytes = std::max(t.window_bytes, 2 * t.fragment_bytes);
    t.noncontig_eager_limit = eager_limit != by_cost
                                  ? t.eager_limit
                                  : std::max(t.eager_limit, std::min(noncontig_pipeline_min, cell_bytes));
    t.noncontig_fragment_bytes = std::min(t.fragment_bytes, noncontig_fragment_size);
    return t;
}

} // namespace zipmpi::proto
