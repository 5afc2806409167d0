// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/select/cost.hpp"

#include "wire/envelope.hpp"

#include <algorithm>
#include <vector>

namespace zipmpi::proto {
namespace {

constexpr uint64_t largest_compared = uint64_t{1} << 24;
constexpr uint64_t never = UINT64_MAX;
// Smaller messages are always eager: the curves do not include the cost of a waiting sender.
constexpr uint64_t min_rendezvous = 1024;
// Below, an arena copy saves less than the library's share of a rendezvous costs, about 0.3 us.
constexpr uint64_t min_arena_compared = 2048;
// A rendezvous costs more in the library than was measured, and couples the sender to the receiver.
constexpr double rendezvous_penalty = 1.25;
// A cooperative copy occupies the sender, so it must win by more than the spread of measurements.
constexpr double coop_penalty = 1.05;

const PathCost& cost_of(const PairCosts& c, MessagePath path) {
    switch (path) {
    case MessagePath::pipeline:
        return c.fragments;
    case MessagePath::cma:
        return c.cma;
    case MessagePath::arena:
        return c.arena;
    case MessagePath::coop:
        return c.coop;
    default:
        return c.cell;
    }
}

// Sizes at which paths are compared, four per octave; crossing() finds the exact size between two of them.
std::vector<uint64_t> compared_sizes(uint64_t least, uint64_t most) {
    std::vector<uint64_t> sizes{least};
    for (uint64_t octave = min_rendezvous; octave < most; octave *= 2)
        for (uint64_t quarter = 0; quarter < 4; ++quarter)
            if (const uint64_t size = octave + octave * quarter / 4; size > least && size <= most)
                sizes.push_back(size);
    if (sizes.back() < most) sizes.push_back(most);
    return sizes;
}

// Relative gain of the other path: positive if it is cheaper, symmetric in the cost ratio.
double gain(double one_ns, double other_ns) { return (one_ns - other_ns) / (one_ns + other_ns); }

// The first size above `below` at which the other path wins (wins == false: loses), as it does at `above`.
template <class Gain>
uint64_t crossing(uint64_t below, uint64_t above, Gain&& gain_at, bool wins) {
    while (above - below > 1) {
        const uint64_t middle = below + (above - below) / 2;
        ((gain_at(middle) > 0) == wins ? above : below) = middle;
    }
    return above;
}

struct SizeRange {
    uint64_t from, to;
};

// The range of sizes for the other path that maximizes the summed gain over the compared sizes: measured
// curves may cross more than once. A range that reaches the largest compared size has no upper end.
template <class Gain>
SizeRange best_range(uint64_t least, Gain&& gain_at) {
    const std::vector<uint64_t> sizes = compared_sizes(least, largest_compared);
    double sum = 0, best = 0;
    size_t start = 0, from = 0, to = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
        if (sum <= 0) {
            sum = 0;
            start = i;
        }
        sum += gain_at(sizes[i]);
        if (sum <= best) continue;
        best = sum;
        from = start;
        to = i;
    }
    if (best <= 0) return {never, 0};
    return {from == 0 ? sizes[0] : crossing(sizes[from - 1], sizes[from], gain_at, true),
            to + 1 == sizes.size() ? never : crossing(sizes[to], sizes[to + 1], gain_at, false) - 1};
}

// Like best_range(), without an upper end.
template <class Gain>
uint64_t best_minimum(uint64_t least, uint64_t most, Gain&& gain_at) {
    const std::vector<uint64_t> sizes = compared_sizes(least, most);
    double sum = 0, best = 0;
    size_t from = sizes.size();
    for (size_t i = sizes.size(); i-- > 0;) {
        sum += gain_at(sizes[i]);
        if (sum <= best) continue;
        best = sum;
        from = i;
    }
    if (from == sizes.size()) return never;
    return from == 0 ? sizes[0] : crossing(sizes[from - 1], sizes[from], gain_at, true);
}

// Cost of a rendezvous by the cheaper of fragments and CMA copy for the given state of the source.
double rendezvous_ns(const PairCosts& costs, const Thresholds& t, uint64_t bytes, bool fresh) {
    const double cells = predicted_ns(costs, MessagePath::pipeline, bytes, fresh);
    const bool may = bytes >= t.cma_min && bytes <= t.cma_max;
    return may ? std::min(cells, predicted_ns(costs, MessagePath::cma, bytes, fresh)) : cells;
}

double mean_ns(const PairCosts& costs, MessagePath path, uint64_t bytes) {
    return (predicted_ns(costs, path, bytes, true) + predicted_ns(costs, path, bytes, false)) / 2;
}

double mean_rendezvous_ns(const PairCosts& costs, const Thresholds& t, uint64_t bytes) {
    return (rendezvous_ns(costs, t, bytes, true) + rendezvous_ns(costs, t, bytes, false)) / 2;
}

void find_coop_range(const PairCosts& costs, Thresholds& t) {
    const SizeRange range = best_range(min_coop_compared, [&](uint64_t bytes) {
        return gain(mean_rendezvous_ns(costs, t, bytes),
                    coop_penalty * mean_ns(costs, MessagePath::coop, bytes));
    });
    t.coop_min = range.from;
    t.coop_max = range.to;
    t.coop_arena_min = best_minimum(min_coop_compared, largest_compared, [&](uint64_t bytes) {
        return gain(bytes >= t.arena_min ? mean_ns(costs, MessagePath::arena, bytes)
                                         : mean_rendezvous_ns(costs, t, bytes),
                    coop_penalty * mean_ns(costs, MessagePath::coop, bytes));
    });
    t.coop_arena_min = std::max(t.coop_arena_min, t.coop_min);
}

} // namespace

const char* name(MessagePath path) {
    constexpr const char* names[] = {"inline",     "multislot",       "cell", "fragments", "CMA copy",
                                     "arena copy", "cooperative copy"};
    return names[static_cast<size_t>(path)];
}

double predicted_ns(const PairCosts& costs, MessagePath path, uint64_t bytes, bool fresh) {
    if (path == MessagePath::inline_) return static_cast<double>(costs.inline_ns);
    if (path == MessagePath::multislot) {
        const uint64_t more =
            (bytes - std::min<uint64_t>(bytes, wire::inline_max) + wire::slot_continuation_bytes - 1) /
            wire::slot_continuation_bytes;
        return static_cast<double>(costs.inline_ns + more * costs.extra_slot_ns);
    }
    const PathCost& cost = cost_of(costs, path);
    return nanoseconds(fresh ? cost.fresh : cost.reused, bytes);
}

PathChoice cheapest_path(const PairCosts& costs, uint64_t bytes, const PathQuery& s) {
    const auto ns = [&](MessagePath path) { return predicted_ns(costs, path, bytes, s.fresh); };
    if (bytes <= wire::inline_max) return {MessagePath::inline_, ns(MessagePath::inline_)};
    PathChoice best{MessagePath::pipeline, ns(MessagePath::pipeline)};
    const auto consider = [&](MessagePath path, bool possible) {
        if (possible && ns(path) < best.ns) best = {path, ns(path)};
    };
    consider(MessagePath::cma, s.cma_allowed);
    consider(MessagePath::coop, s.cma_allowed && bytes >= min_coop_compared);
    consider(MessagePath::arena, s.in_arena);
    consider(MessagePath::cell, bytes <= s.cell_bytes);
    consider(MessagePath::multislot, bytes <= wire::multislot_max);
    return best;
}

Thresholds thresholds_from(const PairCosts& costs, uint64_t cell_bytes) {
    Thresholds t{};
    const SizeRange cma = best_range(min_rendezvous, [&](uint64_t bytes) {
        return gain(predicted_ns(costs, MessagePath::pipeline, bytes, false),
                    predicted_ns(costs, MessagePath::cma, bytes, false));
    });
    t.cma_min = cma.from;
    t.cma_max = cma.to;
    t.fragment_cost = costs.fragments.fresh;
    t.fragment_cost.start_ns -= std::min(t.fragment_cost.start_ns, costs.inline_ns);
    // For a reused source: with a fresh one, RtsPolicy switches the sender to eager.
    const uint64_t rendezvous_min = best_minimum(min_rendezvous, cell_bytes, [&](uint64_t bytes) {
        const bool may = bytes >= t.cma_min && bytes <= t.cma_max;
        return gain(predicted_ns(costs, MessagePath::cell, bytes, false),
                    predicted_ns(costs, may ? MessagePath::cma : MessagePath::pipeline, bytes, false));
    });
    t.eager_limit = std::min(rendezvous_min == never ? cell_bytes : rendezvous_min - 1, cell_bytes);
    t.arena_min = best_minimum(min_arena_compared, largest_compared, [&](uint64_t bytes) {
        const double arena_ns = mean_ns(costs, MessagePath::arena, bytes);
        return bytes <= t.eager_limit
                   ? gain(mean_ns(costs, MessagePath::cell, bytes), rendezvous_penalty * arena_ns)
                   : gain(mean_rendezvous_ns(costs, t, bytes), arena_ns);
    });
    find_coop_range(costs, t);
    t.fragment_bytes =
        std::clamp<uint64_t>(costs.fragment_bytes, std::min<uint64_t>(1024, cell_bytes), cell_bytes);
    t.window_bytes = std::max(costs.window_bytes, 2 * t.fragment_bytes);
    return t;
}

MessagePath select_path(const Thresholds& t, uint64_t bytes, const PathQuery& s) {
    if (bytes <= wire::inline_max) return MessagePath::inline_;
    if (bytes <= wire::multislot_max) return MessagePath::multislot;
    const bool noncontig = s.mean_segment != 0;
    const bool by_arena = s.in_arena && !noncontig && bytes >= t.arena_min;
    if (!by_arena && bytes <= (noncontig ? t.noncontig_eager_limit : t.eager_limit)) return MessagePath::cell;
    const CoopCase coop{s.in_arena && !noncontig, s.in_stream, s.mean_segment};
    if (s.cma_allowed && t.should_coop_copy(bytes, coop)) return MessagePath::coop;
    if (by_arena) return MessagePath::arena;
    const bool by_cma = s.cma_allowed && !noncontig && bytes >= t.cma_min && bytes <= t.cma_max;
    return by_cma ? MessagePath::cma : MessagePath::pipeline;
}

} // namespace zipmpi::proto
