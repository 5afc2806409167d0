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
// Below, a message leaves its sender at once whatever the curves say: they know nothing of a sender that
// waits.
constexpr uint64_t smallest_asked = 1024;
// Sharing memory saves less than a copy, and the library's part of a rendezvous is about 0.3 us.
constexpr uint64_t smallest_direct = 2048;
// The library does more for a rendezvous than was measured, and it binds the sender to the receiver's pace.
constexpr double price_of_asking = 1.25;
// A sender that helps cannot do anything else meanwhile: help has to win by more than what measurements
// differ.
constexpr double price_of_help = 1.05;

const PathCost& cost_of(const PairCosts& c, Path path) {
    switch (path) {
    case Path::fragments:
        return c.fragments;
    case Path::kernel:
        return c.kernel;
    case Path::direct:
        return c.direct;
    case Path::joint:
        return c.joint;
    default:
        return c.cell;
    }
}

// Sizes at which paths are compared, four to a doubling; where two of them differ, crossing() finds the size
// in between.
std::vector<uint64_t> compared_sizes(uint64_t least, uint64_t most) {
    std::vector<uint64_t> sizes{least};
    for (uint64_t octave = smallest_asked; octave < most; octave *= 2)
        for (uint64_t quarter = 0; quarter < 4; ++quarter)
            if (const uint64_t size = octave + octave * quarter / 4; size > least && size <= most)
                sizes.push_back(size);
    if (sizes.back() < most) sizes.push_back(most);
    return sizes;
}

// Positive if the other is cheaper; the same for twice and for half the cost.
double gain(double one_ns, double other_ns) { return (one_ns - other_ns) / (one_ns + other_ns); }

// The first size above `below` at which the other path wins (or, if wins is false, does not), given that this
// holds at `above`.
template <class Gain>
uint64_t crossing(uint64_t below, uint64_t above, Gain&& gain_at, bool wins) {
    while (above - below > 1) {
        const uint64_t middle = below + (above - below) / 2;
        ((gain_at(middle) > 0) == wins ? above : below) = middle;
    }
    return above;
}

struct Band {
    uint64_t from, to;
};

// The sizes for which to take another path, from one to another, so that the mean over all sizes is best:
// measured curves may cross more than once. gain_at(bytes): of taking the other there. No end within the
// sizes that are compared is none at all.
template <class Gain>
Band best_band(uint64_t least, Gain&& gain_at) {
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

// The same without an upper end.
template <class Gain>
uint64_t best_from(uint64_t least, uint64_t most, Gain&& gain_at) {
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

// A message that was asked for takes the better of fragments and one copy by the kernel, as the state of its
// source has it.
double asked_ns(const PairCosts& costs, const Thresholds& t, uint64_t bytes, bool fresh) {
    const double cells = predicted_ns(costs, Path::fragments, bytes, fresh);
    const bool may = bytes >= t.kcopy_min && bytes <= t.kcopy_max;
    return may ? std::min(cells, predicted_ns(costs, Path::kernel, bytes, fresh)) : cells;
}

double mean_ns(const PairCosts& costs, Path path, uint64_t bytes) {
    return (predicted_ns(costs, path, bytes, true) + predicted_ns(costs, path, bytes, false)) / 2;
}

double mean_asked_ns(const PairCosts& costs, const Thresholds& t, uint64_t bytes) {
    return (asked_ns(costs, t, bytes, true) + asked_ns(costs, t, bytes, false)) / 2;
}

void find_joint_sizes(const PairCosts& costs, Thresholds& t) {
    const Band joint = best_band(smallest_joint_compared, [&](uint64_t bytes) {
        return gain(mean_asked_ns(costs, t, bytes), price_of_help * mean_ns(costs, Path::joint, bytes));
    });
    t.joint_min = joint.from;
    t.joint_max = joint.to;
    t.joint_shared_min = best_from(smallest_joint_compared, largest_compared, [&](uint64_t bytes) {
        return gain(bytes >= t.direct_min ? mean_ns(costs, Path::direct, bytes)
                                          : mean_asked_ns(costs, t, bytes),
                    price_of_help * mean_ns(costs, Path::joint, bytes));
    });
    t.joint_shared_min = std::max(t.joint_shared_min, t.joint_min);
}

} // namespace

const char* name(Path path) {
    constexpr const char* names[] = {"line",        "lines",       "cell",      "fragments",
                                     "kernel copy", "direct copy", "joint copy"};
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
    consider(Path::joint, s.kernel_allowed && bytes >= smallest_joint_compared);
    consider(Path::direct, s.born_shared);
    consider(Path::cell, bytes <= s.cell_bytes);
    consider(Path::lines, bytes <= wire::lines_max);
    return best;
}

Thresholds thresholds_from(const PairCosts& costs, uint64_t cell_bytes) {
    Thresholds t{};
    const Band kernel = best_band(smallest_asked, [&](uint64_t bytes) {
        return gain(predicted_ns(costs, Path::fragments, bytes, false),
                    predicted_ns(costs, Path::kernel, bytes, false));
    });
    t.kcopy_min = kernel.from;
    t.kcopy_max = kernel.to;
    t.instead_of_kcopy = costs.fragments.fresh;
    t.instead_of_kcopy.start_ns -= std::min(t.instead_of_kcopy.start_ns, costs.line_ns);
    // By a source that is kept: a sender whose messages are not taken by one copy learns to send at once.
    const uint64_t ask_from = best_from(smallest_asked, cell_bytes, [&](uint64_t bytes) {
        const bool may = bytes >= t.kcopy_min && bytes <= t.kcopy_max;
        return gain(predicted_ns(costs, Path::cell, bytes, false),
                    predicted_ns(costs, may ? Path::kernel : Path::fragments, bytes, false));
    });
    t.eager_limit = std::min(ask_from == never ? cell_bytes : ask_from - 1, cell_bytes);
    t.direct_min = best_from(smallest_direct, largest_compared, [&](uint64_t bytes) {
        const double direct = mean_ns(costs, Path::direct, bytes);
        return bytes <= t.eager_limit ? gain(mean_ns(costs, Path::cell, bytes), price_of_asking * direct)
                                      : gain(mean_asked_ns(costs, t, bytes), direct);
    });
    find_joint_sizes(costs, t);
    t.fragment_bytes =
        std::clamp<uint64_t>(costs.fragment_bytes, std::min<uint64_t>(1024, cell_bytes), cell_bytes);
    t.window_bytes = std::max(costs.window_bytes, 2 * t.fragment_bytes);
    return t;
}

Path path_by(const Thresholds& t, uint64_t bytes, const Situation& s) {
    if (bytes <= wire::inline_max) return Path::line;
    if (bytes <= wire::lines_max) return Path::lines;
    const bool gaps = s.mean_piece != 0;
    const bool direct = s.born_shared && !gaps && bytes >= t.direct_min;
    if (!direct && bytes <= (gaps ? t.gaps_eager_limit : t.eager_limit)) return Path::cell;
    const JointCase both{s.born_shared && !gaps, s.in_stream, s.mean_piece};
    if (s.kernel_allowed && t.goes_jointly(bytes, both)) return Path::joint;
    if (direct) return Path::direct;
    const bool by_kernel = s.kernel_allowed && !gaps && bytes >= t.kcopy_min && bytes <= t.kcopy_max;
    return by_kernel ? Path::kernel : Path::fragments;
}

} // namespace zipmpi::proto
