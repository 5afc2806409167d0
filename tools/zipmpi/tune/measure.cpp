// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tune/measure.hpp"

#include "base/param.hpp"
#include "os/clock.hpp"
#include "tune/pair.hpp"
#include "wire/envelope.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

using proto::Path;

// Of one sample: long against the clock, short against a disturbance.
constexpr double shortest_slice_ns = 1e5, longest_slice_ns = 1.5e6;
constexpr int fewest_rounds = 3, most_rounds = 41;

struct Task {
    Exchange what;
    uint64_t round_trips = 1;
    std::vector<double> samples;
};

// Measures all tasks in rounds until the time is up.
int run_rounds(Pair& pair, std::vector<Task>& tasks, double seconds, const Progress& progress) {
    const auto begin = static_cast<double>(os::now_ns());
    const auto part = [&] { return (static_cast<double>(os::now_ns()) - begin) / (seconds * 1e9); };
    const double slice_ns = std::clamp(seconds * 1e9 / static_cast<double>(tasks.size() * fewest_rounds),
                                       shortest_slice_ns, longest_slice_ns);
    for (Task& t : tasks) {
        const double once = pair.time(t.what, 2) * 2;
        t.round_trips = static_cast<uint64_t>(std::clamp(slice_ns / once, 1.0, 1e6));
    }
    int rounds = 0;
    double longest = 0; // parts of the time that a round takes
    for (; rounds < most_rounds && (rounds < fewest_rounds || part() + longest < 1); ++rounds) {
        const double before = part();
        for (Task& t : tasks) {
            t.samples.push_back(pair.time(t.what, t.round_trips));
            progress(std::min(part(), 1.0));
        }
        longest = std::max(longest, part() - before);
    }
    return rounds;
}

std::vector<uint64_t> sizes_of(Path path, uint64_t cell_bytes) {
    std::vector<uint64_t> sizes;
    uint64_t first = path == Path::cell || path == Path::direct ? 512 : 4 * KiB;
    if (path == Path::joint) first = proto::smallest_joint_compared;
    const uint64_t last = path == Path::cell ? cell_bytes : Pair::largest_message;
    const uint64_t step = path == Path::cell || path == Path::joint ? 2 : 4;
    for (uint64_t size = first; size < last; size *= step) sizes.push_back(size);
    sizes.push_back(last);
    return sizes;
}

// Fragments and windows: which go best for 256 KiB and 1 MiB. A smaller window that is nearly as good leaves
// more of the cache to others.
void find_fragments(Pair& pair, uint64_t shared_cache, uint64_t cell_bytes, double seconds,
                    const Progress& progress, proto::PairCosts& costs) {
    std::vector<Task> tasks;
    for (uint64_t fragment : {8 * KiB, 16 * KiB, 32 * KiB, 64 * KiB})
        for (uint64_t window = 2; window <= 32; window *= 2) {
            const uint64_t bytes = std::min<uint64_t>(fragment, cell_bytes);
            if (fragment / 2 >= cell_bytes) continue;
            if (shared_cache != 0 && window > 2 && window * bytes > shared_cache / 2) continue;
            for (const uint64_t message : {256 * KiB, 1 * MiB})
                for (const bool fresh : {true, false})
                    tasks.push_back({{Path::fragments, message, fresh, bytes, window * bytes}, 1, {}});
        }
    run_rounds(pair, tasks, seconds, progress);
    constexpr size_t points = 4; // per choice, as made above
    constexpr double nearly = 1.03;
    double best = 0;
    const auto cost = [&](size_t i) {
        double sum = 0;
        for (size_t k = i; k < i + points; ++k)
            sum += figure_of(tasks[k].samples).median / static_cast<double>(tasks[k].what.bytes);
        return sum;
    };
    for (size_t i = 0; i < tasks.size(); i += points) best = best == 0 ? cost(i) : std::min(best, cost(i));
    costs.window_bytes = 0;
    for (size_t i = 0; i < tasks.size(); i += points) {
        const Exchange& what = tasks[i].what;
        if (cost(i) > best * nearly) continue;
        if (costs.window_bytes != 0 && what.window_bytes >= costs.window_bytes) continue;
        costs.fragment_bytes = what.fragment_bytes;
        costs.window_bytes = what.window_bytes;
    }
}

std::vector<Task> tasks_for_curves(const proto::PairCosts& costs, uint64_t cell_bytes, bool kernel_copies) {
    std::vector<Task> tasks;
    tasks.push_back({{Path::line, wire::inline_max, true, 0, 0}, 1, {}});
    tasks.push_back({{Path::lines, wire::lines_max, true, 0, 0}, 1, {}});
    for (const Path path : {Path::cell, Path::fragments, Path::kernel, Path::direct, Path::joint})
        for (const bool fresh : {true, false})
            for (const uint64_t size : sizes_of(path, cell_bytes))
                if ((path != Path::kernel && path != Path::joint) || kernel_copies)
                    tasks.push_back({{path, size, fresh, costs.fragment_bytes, costs.window_bytes}, 1, {}});
    return tasks;
}

std::vector<Point> points_of(const std::vector<Task>& tasks, Path path, bool fresh) {
    std::vector<Point> points;
    for (const Task& t : tasks)
        if (t.what.path == path && t.what.fresh == fresh)
            points.push_back({t.what.bytes, figure_of(t.samples).median});
    return points;
}

void fit_curves(const std::vector<Task>& tasks, Measurement& m) {
    std::vector<double> spreads;
    spreads.reserve(tasks.size());
    for (const Task& t : tasks) spreads.push_back(figure_of(t.samples).spread);
    m.spread = figure_of(spreads).median;
    const auto fit_one = [&](Path path, bool fresh, proto::Curve& into) {
        const auto points = points_of(tasks, path, fresh);
        if (points.empty()) return;
        into = fit(points);
        m.misfit = std::max(m.misfit, misfit(into, points));
        m.detail += fmt::format("# {}, {}:", name(path), fresh ? "fresh" : "kept");
        for (const Point& p : points) m.detail += fmt::format(" {}={:.0f}", p.bytes, p.ns);
        m.detail += " ns\n";
    };
    const struct {
        Path path;
        proto::PathCost& cost;
    } curves[] = {{Path::cell, m.costs.cell},
                  {Path::fragments, m.costs.fragments},
                  {Path::kernel, m.costs.kernel},
                  {Path::direct, m.costs.direct},
                  {Path::joint, m.costs.joint}};
    for (const auto& c : curves) {
        fit_one(c.path, true, c.cost.fresh);
        fit_one(c.path, false, c.cost.kept);
    }
    m.costs.line_ns = static_cast<uint64_t>(figure_of(tasks[0].samples).median);
    const double all_lines = figure_of(tasks[1].samples).median;
    m.costs.more_line_ns = static_cast<uint64_t>(std::max(
        0.0, (all_lines - static_cast<double>(m.costs.line_ns)) / static_cast<double>(wire::max_more_lines)));
}

} // namespace

std::vector<MeasuredPair> pairs_to_measure(const topo::Machine& machine, const std::vector<int>& usable) {
    std::vector<MeasuredPair> found;
    const auto add = [&](const MeasuredPair& p) {
        for (const MeasuredPair& f : found)
            if (f.pair == p.pair) return;
        found.push_back(p);
    };
    if (usable.empty()) return found;
    add({topo::PairClass::same_core, usable[0], usable[0]});
    // The first CPU with every other one: each class that exists has a pair with it on a regular machine.
    const topo::Place own = topo::place_of(machine, {usable[0]});
    for (size_t i = 1; i < usable.size(); ++i)
        add({machine.cpus.empty() ? topo::assumed_class
                                  : topo::pair_class(own, topo::place_of(machine, {usable[i]})),
             usable[0], usable[i]});
    return found;
}

Measurement measure(const MeasuredPair& where, uint64_t shared_cache, uint64_t cell_bytes, double seconds,
                    const Progress& progress) {
    constexpr double part_for_fragments = 0.35;
    Measurement m;
    m.where = where;
    m.costs = proto::built_in_costs(where.pair);
    Pair pair(where.first, where.second);
    m.kernel_copies = pair.kernel_copies();
    find_fragments(
        pair, shared_cache, cell_bytes, seconds * part_for_fragments,
        [&](double part) { progress(part * part_for_fragments); }, m.costs);
    std::vector<Task> tasks = tasks_for_curves(m.costs, cell_bytes, m.kernel_copies);
    m.rounds = run_rounds(pair, tasks, seconds * (1 - part_for_fragments), [&](double part) {
        progress(part_for_fragments + part * (1 - part_for_fragments));
    });
    fit_curves(tasks, m);
    return m;
}

} // namespace zipmpi::tool
