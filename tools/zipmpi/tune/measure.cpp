// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tune/measure.hpp"

#include "base/param.hpp"
#include "os/clock.hpp"
#include "tune/pair_bench.hpp"
#include "wire/envelope.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

using proto::MessagePath;

// Duration of one sample: long compared to the clock resolution, short compared to disturbances.
constexpr double shortest_slice_ns = 1e5, longest_slice_ns = 1.5e6;
constexpr int fewest_rounds = 3, most_rounds = 41;

struct MeasurePoint {
    PathSample what;
    uint64_t round_trips = 1;
    std::vector<double> samples;
};

// Measures all points in rounds until the time is up.
int run_rounds(PairBench& pair, std::vector<MeasurePoint>& measure_points, double seconds,
               const Progress& progress) {
    const auto begin = static_cast<double>(os::now_ns());
    const auto elapsed_fraction = [&] {
        return (static_cast<double>(os::now_ns()) - begin) / (seconds * 1e9);
    };
    const double slice_ns =
        std::clamp(seconds * 1e9 / static_cast<double>(measure_points.size() * fewest_rounds),
                   shortest_slice_ns, longest_slice_ns);
    for (MeasurePoint& t : measure_points) {
        const double once = pair.time(t.what, 2) * 2;
        t.round_trips = static_cast<uint64_t>(std::clamp(slice_ns / once, 1.0, 1e6));
    }
    int rounds = 0;
    double longest = 0; // fraction of the time that a round takes
    for (; rounds < most_rounds && (rounds < fewest_rounds || elapsed_fraction() + longest < 1); ++rounds) {
        const double before = elapsed_fraction();
        for (MeasurePoint& t : measure_points) {
            t.samples.push_back(pair.time(t.what, t.round_trips));
            progress(std::min(elapsed_fraction(), 1.0));
        }
        longest = std::max(longest, elapsed_fraction() - before);
    }
    return rounds;
}

std::vector<uint64_t> sizes_of(MessagePath path, uint64_t cell_bytes) {
    std::vector<uint64_t> sizes;
    uint64_t first = path == MessagePath::cell || path == MessagePath::arena ? 512 : 4 * KiB;
    if (path == MessagePath::coop) first = proto::min_coop_compared;
    const uint64_t last = path == MessagePath::cell ? cell_bytes : PairBench::largest_message;
    const uint64_t step = path == MessagePath::cell || path == MessagePath::coop ? 2 : 4;
    for (uint64_t size = first; size < last; size *= step) sizes.push_back(size);
    sizes.push_back(last);
    return sizes;
}

// Selects the fragment and window sizes that are best for 256 KiB and 1 MiB. A smaller window that is nearly
// as good leaves more of the cache to other data.
void find_fragments(PairBench& pair, uint64_t shared_cache, uint64_t cell_bytes, double seconds,
                    const Progress& progress, proto::PairCosts& costs) {
    std::vector<MeasurePoint> measure_points;
    for (uint64_t fragment : {8 * KiB, 16 * KiB, 32 * KiB, 64 * KiB})
        for (uint64_t window = 2; window <= 32; window *= 2) {
            const uint64_t bytes = std::min<uint64_t>(fragment, cell_bytes);
            if (fragment / 2 >= cell_bytes) continue;
            if (shared_cache != 0 && window > 2 && window * bytes > shared_cache / 2) continue;
            for (const uint64_t message : {256 * KiB, 1 * MiB})
                for (const bool fresh : {true, false})
                    measure_points.push_back(
                        {{MessagePath::pipeline, message, fresh, bytes, window * bytes}, 1, {}});
        }
    run_rounds(pair, measure_points, seconds, progress);
    constexpr size_t points = 4; // per choice
    constexpr double tolerance = 1.03;
    double best = 0;
    const auto cost = [&](size_t i) {
        double sum = 0;
        for (size_t k = i; k < i + points; ++k)
            sum += stats_of(measure_points[k].samples).median /
                   static_cast<double>(measure_points[k].what.bytes);
        return sum;
    };
    for (size_t i = 0; i < measure_points.size(); i += points)
        best = best == 0 ? cost(i) : std::min(best, cost(i));
    costs.window_bytes = 0;
    for (size_t i = 0; i < measure_points.size(); i += points) {
        const PathSample& what = measure_points[i].what;
        if (cost(i) > best * tolerance) continue;
        if (costs.window_bytes != 0 && what.window_bytes >= costs.window_bytes) continue;
        costs.fragment_bytes = what.fragment_bytes;
        costs.window_bytes = what.window_bytes;
    }
}

std::vector<MeasurePoint> curve_measure_points(const proto::PairCosts& costs, uint64_t cell_bytes,
                                               bool cma_copies) {
    std::vector<MeasurePoint> measure_points;
    measure_points.push_back({{MessagePath::inline_, wire::inline_max, true, 0, 0}, 1, {}});
    measure_points.push_back({{MessagePath::multislot, wire::multislot_max, true, 0, 0}, 1, {}});
    for (const MessagePath path :
         {MessagePath::cell, MessagePath::pipeline, MessagePath::cma, MessagePath::arena, MessagePath::coop})
        for (const bool fresh : {true, false})
            for (const uint64_t size : sizes_of(path, cell_bytes))
                if ((path != MessagePath::cma && path != MessagePath::coop) || cma_copies)
                    measure_points.push_back(
                        {{path, size, fresh, costs.fragment_bytes, costs.window_bytes}, 1, {}});
    return measure_points;
}

std::vector<Point> points_of(const std::vector<MeasurePoint>& measure_points, MessagePath path, bool fresh) {
    std::vector<Point> points;
    for (const MeasurePoint& t : measure_points)
        if (t.what.path == path && t.what.fresh == fresh)
            points.push_back({t.what.bytes, stats_of(t.samples).median});
    return points;
}

void fit_curves(const std::vector<MeasurePoint>& measure_points, Measurement& m) {
    std::vector<double> spreads;
    spreads.reserve(measure_points.size());
    for (const MeasurePoint& t : measure_points) spreads.push_back(stats_of(t.samples).spread);
    m.spread = stats_of(spreads).median;
    const auto fit_one = [&](MessagePath path, bool fresh, proto::Curve& into) {
        const auto points = points_of(measure_points, path, fresh);
        if (points.empty()) return;
        into = fit(points);
        m.misfit = std::max(m.misfit, misfit(into, points));
        m.detail += fmt::format("# {}, {}:", name(path), fresh ? "fresh" : "reused");
        for (const Point& p : points) m.detail += fmt::format(" {}={:.0f}", p.bytes, p.ns);
        m.detail += " ns\n";
    };
    const struct {
        MessagePath path;
        proto::PathCost& cost;
    } curves[] = {{MessagePath::cell, m.costs.cell},
                  {MessagePath::pipeline, m.costs.fragments},
                  {MessagePath::cma, m.costs.cma},
                  {MessagePath::arena, m.costs.arena},
                  {MessagePath::coop, m.costs.coop}};
    for (const auto& c : curves) {
        fit_one(c.path, true, c.cost.fresh);
        fit_one(c.path, false, c.cost.reused);
    }
    m.costs.inline_ns = static_cast<uint64_t>(stats_of(measure_points[0].samples).median);
    const double all_lines = stats_of(measure_points[1].samples).median;
    m.costs.extra_slot_ns =
        static_cast<uint64_t>(std::max(0.0, (all_lines - static_cast<double>(m.costs.inline_ns)) /
                                                static_cast<double>(wire::max_extra_slots)));
}

} // namespace

std::vector<MeasuredPair> pairs_to_measure(const hwtopo::Machine& machine, const std::vector<int>& usable) {
    std::vector<MeasuredPair> found;
    const auto add = [&](const MeasuredPair& p) {
        for (const MeasuredPair& f : found)
            if (f.pair == p.pair) return;
        found.push_back(p);
    };
    if (usable.empty()) return found;
    add({hwtopo::PairClass::same_core, usable[0], usable[0]});
    // Pairs the first CPU with every other one: on a regular machine this covers every class that exists.
    const hwtopo::Locality own = hwtopo::locality_of(machine, {usable[0]});
    for (size_t i = 1; i < usable.size(); ++i)
        add({machine.cpus.empty() ? hwtopo::assumed_class
                                  : hwtopo::pair_class(own, hwtopo::locality_of(machine, {usable[i]})),
             usable[0], usable[i]});
    return found;
}

Measurement measure(const MeasuredPair& where, uint64_t shared_cache, uint64_t cell_bytes, double seconds,
                    const Progress& progress) {
    constexpr double fragment_share = 0.35;
    Measurement m;
    m.where = where;
    m.costs = proto::built_in_costs(where.pair);
    PairBench pair(where.first, where.second);
    m.cma_works = pair.cma_works();
    find_fragments(
        pair, shared_cache, cell_bytes, seconds * fragment_share,
        [&](double fraction) { progress(fraction * fragment_share); }, m.costs);
    std::vector<MeasurePoint> measure_points = curve_measure_points(m.costs, cell_bytes, m.cma_works);
    m.rounds = run_rounds(pair, measure_points, seconds * (1 - fragment_share), [&](double fraction) {
        progress(fragment_share + fraction * (1 - fragment_share));
    });
    fit_curves(measure_points, m);
    return m;
}

} // namespace zipmpi::tool
