// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "trace/profile.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace zipmpi::trace {
namespace {

constexpr size_t rows_shown = 10;
constexpr double rank_range = 4294967296.0;
constexpr double share_units = 1e6; // 20 bits and 32 of the rank: exact in a double

struct ShareOfRank {
    double share;
    uint32_t rank;
};

ShareOfRank split(double number) {
    const double rank = std::fmod(number, rank_range);
    return {(number - rank) / rank_range / share_units, static_cast<uint32_t>(rank)};
}

std::string seconds_text(double s) {
    char text[32];
    if (s >= 1)
        std::snprintf(text, sizeof text, "%.3f s", s);
    else if (s >= 1e-3)
        std::snprintf(text, sizeof text, "%.3f ms", s * 1e3);
    else
        std::snprintf(text, sizeof text, "%.3f us", s * 1e6);
    return text;
}

std::string bytes_text(double n) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; n >= 1024 && unit + 1 < std::size(units); ++unit) n /= 1024;
    char text[32];
    std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", n, units[unit]);
    return n == 0 ? "-" : text;
}

} // namespace

double share_and_rank(double share, uint32_t rank) noexcept {
    return std::floor(std::clamp(share, 0.0, 1.0) * share_units) * rank_range + rank;
}

std::string profile_text(const ProfileSums& sums, const ProfileMaxima& maxima, uint32_t ranks) {
    const ShareOfRank high = split(maxima.highest);
    ShareOfRank low = split(maxima.lowest); // of 1 - share
    low.share = 1 - low.share;
    const double whole = sums.run_seconds > 0 ? sums.run_seconds : 1;
    char line[200];
    std::snprintf(
        line, sizeof line,
        "profile of %u ranks, %s: %.1f %% of the time in MPI; lowest %.1f %% (rank %u), highest %.1f %% "
        "(rank %u)\n",
        ranks, seconds_text(maxima.run_seconds).c_str(), 100 * sums.mpi_seconds / whole, 100 * low.share,
        low.rank, 100 * high.share, high.rank);
    std::string text = line;
    std::vector<uint32_t> used;
    for (uint32_t id = 1; id <= names::function_count; ++id)
        if (sums.functions[id].calls > 0) used.push_back(id);
    std::sort(used.begin(), used.end(),
              [&](uint32_t a, uint32_t b) { return sums.functions[a].seconds > sums.functions[b].seconds; });
    std::snprintf(line, sizeof line, "  %-26s %12s %13s %7s %11s %9s\n", "call", "calls", "time", "share",
                  "bytes", "max/mean");
    text += line;
    for (size_t i = 0; i < std::min(used.size(), rows_shown); ++i) {
        const ProfileSums::Function& f = sums.functions[used[i]];
        const double mean = f.seconds / ranks;
        std::snprintf(line, sizeof line, "  %-26s %12.0f %13s %5.1f %% %11s %9.1f\n",
                      names::function(used[i]).name, f.calls, seconds_text(f.seconds).c_str(),
                      100 * f.seconds / whole, bytes_text(f.bytes).c_str(),
                      mean > 0 ? maxima.seconds[used[i]] / mean : 1.0);
        text += line;
    }
    if (used.size() > rows_shown)
        text += "  and " + std::to_string(used.size() - rows_shown) + " other functions\n";
    return text;
}

} // namespace zipmpi::trace
