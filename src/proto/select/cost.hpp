// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a message costs on each path, as curves over its size, and which path is therefore taken. Pure
// functions of their arguments; the constants are built in, or measured by `zipmpi tune`.
#pragma once

#include "proto/select/select.hpp"

#include <cstddef>
#include <cstdint>

namespace zipmpi::proto {

// A copy is slower if the sender has just written the source, because its lines come out of the other core's
// cache; how much slower differs between the paths.
struct PathCost {
    Curve fresh; // written before each message
    Curve kept;  // the same bytes again and again
    bool operator==(const PathCost&) const = default;
};

// From the call of the sender to the bytes in the buffer of a receiver that waits, everything included.
struct PairCosts {
    uint64_t line_ns;      // a message that fits in one line
    uint64_t more_line_ns; // each further line
    PathCost cell;         // sent at once through one cell
    PathCost fragments;    // rendezvous, then through cells, with the two numbers below
    PathCost kernel;       // rendezvous, then one copy by the kernel
    PathCost direct;       // rendezvous, then one copy out of memory that both have mapped
    PathCost joint;        // rendezvous, then copies by the kernel on both sides (p2p/chunks.hpp)
    uint64_t fragment_bytes;
    uint64_t window_bytes; // of fragments sent and not yet copied out: what the shared cache holds with ease
    bool operator==(const PairCosts&) const = default;
};

// Calls f(name, value) for every constant, with the names they have in a file: "kernel.fresh.start_ns".
template <class Costs, class F>
void each_constant(Costs& c, F&& f) {
    f("line_ns", c.line_ns);
    f("more_line_ns", c.more_line_ns);
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
    ZIPMPI_CURVE(cell, kept);
    ZIPMPI_CURVE(fragments, fresh);
    ZIPMPI_CURVE(fragments, kept);
    ZIPMPI_CURVE(kernel, fresh);
    ZIPMPI_CURVE(kernel, kept);
    ZIPMPI_CURVE(direct, fresh);
    ZIPMPI_CURVE(direct, kept);
    ZIPMPI_CURVE(joint, fresh);
    ZIPMPI_CURVE(joint, kept);
#undef ZIPMPI_CURVE
}

const PairCosts& built_in_costs(PairClass pair);
inline constexpr uint64_t assumed_cell_bytes = 32 * 1024 - 64; // before the node segment says its own

// A joint copy is measured and compared from here on: the sender's chunk is then at least half of the
// receiver's.
inline constexpr uint64_t smallest_joint_compared = 48 * 1024;

enum class Path : uint8_t { line, lines, cell, fragments, kernel, direct, joint };
const char* name(Path path);

struct Situation {
    uint64_t cell_bytes = 0;
    bool kernel_allowed = true;
    bool born_shared = false; // the source lies in memory that the receiver has mapped too
    bool fresh = false;       // the sender has just written it, and the receiver knows (source_sense.hpp)
    bool in_stream = false;   // another message of the sender waits already
    uint64_t mean_piece = 0;  // of a source with gaps; 0: in one piece
};

double predicted_ns(const PairCosts& costs, Path path, uint64_t bytes, bool fresh);

struct Choice {
    Path path;
    double ns;
};
Choice cheapest(const PairCosts& costs, uint64_t bytes, const Situation& situation);

// The same, worked out beforehand: what a lane compares sizes with.
Thresholds thresholds_from(const PairCosts& costs, uint64_t cell_bytes);
// What a lane with these thresholds does with a message.
Path path_by(const Thresholds& t, uint64_t bytes, const Situation& situation);

} // namespace zipmpi::proto
