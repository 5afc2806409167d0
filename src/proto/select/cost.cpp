// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/select/cost.hpp"

#include "wire/envelope.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace zipmpi::proto {
namespace {

constexpr uint64_t largest_compared = uint64_t{1} << 24;
constexpr uint64_t never = UINT64_MAX;
// Below, a message leaves its sender at once whatever the curves say: they know nothing of a sender that
// waits.
constexpr uint64_t smallest_asked = 2048;
// The library does more for a rendezvous than was measured, and it binds the sender to the receiver's pace.
constexpr double price_of_asking = 1.25;

const PathCost& cost_of(const PairCosts& c, Path path) {
    switch (path) {
    case Path::fragments:
        return c.fragments;
    case Path::kernel:
        return c.kernel;
    case Path::direct:
        return c.direct;
    default:
        return c.cell;
    }
}

// Sizes at which paths are compared: four to a doubling, so that a threshold is off by at most a fifth.
std::vector<uint64_t> compared_sizes(uint64_t most) {
    std::vector<uint64_t> sizes;
    for (uint64_t octave = smallest_asked; octave < most; octave *= 2)
        for (uint64_t quarter = 0; quarter < 4; ++quarter) sizes.push_back(octave + octave * quarter / 4);
    while (!sizes.empty() && sizes.back() > most) sizes.pop_back();
    return sizes;
}

// Positive if the other is cheaper; the same for twice and for half the cost.
double gain(double one_ns, double other_ns) { return (one_ns - other_ns) / (one_ns + other_ns); }

struct Band {
    uint64_t from, to;
};

// The sizes for which to take another path, from one to another, so that the mean over all sizes is best:
// measured curves may cross more than once. gain_at(bytes): of taking the other there.
template <class Gain>
Band best_band(uint64_t most, Gain&& gain_at) {
    double sum = 0, best = 0;
    uint64_t start = 0;
    Band band{never, 0};
    for (const uint64_t bytes : compared_sizes(most)) {
        if (sum <= 0) {
            sum = 0;
            start = bytes;
        }
        sum += gain_at(bytes);
        if (sum <= best) continue;
        best = sum;
        band = {start, bytes};
    }
    return band;
}

// The same without an upper end.
template <class Gain>
uint64_t best_from(uint64_t most, Gain&& gain_at) {
    const std::vector<uint64_t> sizes = compared_sizes(most);
    double sum = 0, best = 0;
    uint64_t from = never;
    for (size_t i = sizes.size(); i-- > 0;) {
        sum += gain_at(sizes[i]);
        if (sum <= best) continue;
        best = sum;
        from = sizes[i];
    }
    return from;
}

} // namespace

const char* name(Path path) {
    constexpr const char* names[] = {"line", "lines", "cell", "fragments", "kernel copy", "direct copy"};
    return names[static_cast<size_t>(path)];
}

double predicted_ns(const PairCosts& costs, Path path, uint64_t bytes, bool fresh) {
    if (path == Path::line) return static_cast<double>(costs.line_ns);
    if (path == Path::lines) {
        const uint64_t more =
            (bytes - std::min<uint64_t>(bytes, wire::inline_max) + wire::continuation_bytes - 1) /
            wire::continuation_bytes;
        return static_cast<double>(costs.line_ns + more * costs.more_line_ns);
    }
    const PathCost& cost = cost_of(costs, path);
    return nanoseconds(fresh ? cost.fresh : cost.kept, bytes);
}

Choice cheapest(const PairCosts& costs, uint64_t bytes, const Situation& s) {
    const auto ns = [&](Path path) { return predicted_ns(costs, path, bytes, s.fresh); };
    if (bytes <= wire::inline_max) return {Path::line, ns(Path::line)};
    Choice best{Path::fragments, ns(Path::fragments)};
    const auto consider = [&](Path path, bool possible) {
        if (possible && ns(path) < best.ns) best = {path, ns(path)};
    };
    consider(Path::kernel, s.kernel_allowed);
    consider(Path::direct, s.born_shared);
    consider(Path::cell, bytes <= s.cell_bytes);
    consider(Path::lines, bytes <= wire::lines_max);
    return best;
}

Thresholds thresholds_from(const PairCosts& costs, uint64_t cell_bytes) {
    const auto mean = [&](Path path, uint64_t bytes) {
        return (predicted_ns(costs, path, bytes, true) + predicted_ns(costs, path, bytes, false)) / 2;
    };
    Thresholds t{};
    const Band kernel = best_band(largest_compared, [&](uint64_t bytes) {
        return gain(predicted_ns(costs, Path::fragments, bytes, false),
                    predicted_ns(costs, Path::kernel, bytes, false));
    });
    t.kcopy_min = kernel.from;
    t.kcopy_max = kernel.to >= compared_sizes(largest_compared).back() ? never : kernel.to;
    t.instead_of_kcopy = costs.fragments.fresh;
    t.instead_of_kcopy.start_ns -= std::min(t.instead_of_kcopy.start_ns, costs.line_ns);
    // Asked for, a message takes the better of two paths in either state of its source.
    const auto asked = [&](uint64_t bytes) {
        double sum = 0;
        for (const bool fresh : {true, false}) {
            const double cells = predicted_ns(costs, Path::fragments, bytes, fresh);
            const bool may = bytes >= t.kcopy_min && bytes <= t.kcopy_max;
            sum += may ? std::min(cells, predicted_ns(costs, Path::kernel, bytes, fresh)) : cells;
        }
        return sum / 2;
    };
    // By a source that is kept: a sender whose messages are not taken by one copy learns to send at once.
    const uint64_t ask_from = best_from(cell_bytes, [&](uint64_t bytes) {
        const bool may = bytes >= t.kcopy_min && bytes <= t.kcopy_max;
        return gain(predicted_ns(costs, Path::cell, bytes, false),
                    predicted_ns(costs, may ? Path::kernel : Path::fragments, bytes, false));
    });
    t.eager_limit = std::min(ask_from == never ? cell_bytes : ask_from - 1, cell_bytes);
    t.direct_min = best_from(largest_compared, [&](uint64_t bytes) {
        return bytes <= t.eager_limit
                   ? gain(mean(Path::cell, bytes), price_of_asking * mean(Path::direct, bytes))
                   : gain(asked(bytes), mean(Path::direct, bytes));
    });
    t.fragment_bytes =
        std::clamp<uint64_t>(costs.fragment_bytes, std::min<uint64_t>(1024, cell_bytes), cell_bytes);
    t.window_bytes = std::max(costs.window_bytes, 2 * t.fragment_bytes);
    return t;
}

Path path_by(const Thresholds& t, uint64_t bytes, const Situation& s) {
    if (bytes <= wire::inline_max) return Path::line;
    if (bytes <= wire::lines_max) return Path::lines;
    if (s.born_shared && bytes >= t.direct_min) return Path::direct;
    if (bytes <= t.eager_limit) return Path::cell;
    const bool by_kernel = s.kernel_allowed && bytes >= t.kcopy_min && bytes <= t.kcopy_max;
    return by_kernel ? Path::kernel : Path::fragments;
}

} // namespace zipmpi::proto
