// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cost model of messages within a node: the cost of each path as a curve over the size, and the thresholds
// that follow from it. Pure functions; the constants are built in or measured by `zipmpi tune`.
#pragma once

#include "proto/select/select.hpp"

#include <cstddef>
#include <cstdint>

namespace zipmpi::proto {

// A copy is slower if the sender has just written the source, because the cache lines come from the other
// core's cache. The difference depends on the path.
struct PathCost {
    Curve fresh;  // the source is written before each message
    Curve reused; // the source is sent repeatedly without being written
    bool operator==(const PathCost&) const = default;
};

// Costs from the sender's call until the bytes are in the buffer of a waiting receiver.
struct PairCosts {
    uint64_t inline_ns;     // a message in one slot
    uint64_t extra_slot_ns; // each further slot
    PathCost cell;          // eager, through one cell
    PathCost fragments;     // rendezvous, then fragment pipeline, with the two sizes below
    PathCost cma;           // rendezvous, then one CMA copy
    PathCost arena;         // rendezvous, then one copy from the shared arena
    PathCost coop;          // rendezvous, then CMA copies by both sides (p2p/chunks.hpp)
    uint64_t fragment_bytes;
    uint64_t window_bytes; // fragments in flight; should fit in the shared cache
    bool operator==(const PairCosts&) const = default;
};

// Calls f(name, value) for every constant, with its name in a cost file, such as "cma.fresh.start_ns".
template <class Costs, class F>
void each_constant(Costs& c, F&& f) {
    f("inline_ns", c.inline_ns);
    f("extra_slot_ns", c.extra_slot_ns);
    f("fragment_bytes", c.fragment_bytes);
    f("window_bytes", c.window_bytes);
    const auto curve = [&](const char* start, const char* cached, const char* beyond, const char* bend,
                           auto& at) {
        f(start, at.start_ns);
        f(cached, at.cached_ps);
        f(beyond, at.beyond_ps);
        f(bend, at.cached_bytes);
    };
#define ZIPMPI_CURVE(path, source)                                                                           \
    curve(#path "." #source ".start_ns", #path "." #source ".cached_ps", #path "." #source ".beyond_ps",     \
          #path "." #source ".cached_bytes", c.path.source)
    ZIPMPI_CURVE(cell, fresh);
    ZIPMPI_CURVE(cell, reused);
    ZIPMPI_CURVE(fragments, fresh);
    ZIPMPI_CURVE(fragments, reused);
    ZIPMPI_CURVE(cma, fresh);
    ZIPMPI_CURVE(cma, reused);
    ZIPMPI_CURVE(arena, fresh);
    ZIPMPI_CURVE(arena, reused);
    ZIPMPI_CURVE(coop, fresh);
    ZIPMPI_CURVE(coop, reused);
#undef ZIPMPI_CURVE
}

const PairCosts& built_in_costs(PairClass pair);
inline constexpr uint64_t assumed_cell_bytes = 32 * 1024 - 64; // default of shm.cell_size without its header

// Smallest message for which a cooperative copy is measured and compared: from here on the sender's chunk is
// at least half of the receiver's.
inline constexpr uint64_t min_coop_compared = 48 * 1024;

enum class MessagePath : uint8_t { inline_, multislot, cell, pipeline, cma, arena, coop };
const char* name(MessagePath path);

// Properties of a message, besides its size, on which its path depends.
struct PathQuery {
    uint64_t cell_bytes = 0;
    bool cma_allowed = true;
    bool in_arena = false;     // the source is in the shared arena
    bool fresh = false;        // the sender has just written the source (cma_heuristic.hpp)
    bool in_stream = false;    // another message of the sender is already in the ring
    uint64_t mean_segment = 0; // of a noncontiguous source; 0: contiguous
};

double predicted_ns(const PairCosts& costs, MessagePath path, uint64_t bytes, bool fresh);

struct PathChoice {
    MessagePath path;
    double ns;
};
PathChoice cheapest_path(const PairCosts& costs, uint64_t bytes, const PathQuery& query);

// Precomputes the sizes at which the cheapest path changes.
Thresholds thresholds_from(const PairCosts& costs, uint64_t cell_bytes);
// The path that the progress engine takes with these thresholds.
MessagePath select_path(const Thresholds& t, uint64_t bytes, const PathQuery& query);

} // namespace zipmpi::proto
