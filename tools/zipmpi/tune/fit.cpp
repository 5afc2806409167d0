// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tune/fit.hpp"

#include <algorithm>
#include <cmath>

namespace zipmpi::tool {
namespace {

struct LinearFit {
    double start = 0, slope = 0;
};

// Least squares of relative errors; start and slope are never negative.
LinearFit fit_line(const std::vector<Point>& points, size_t count) {
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    for (size_t i = 0; i < count; ++i) {
        const double x = static_cast<double>(points[i].bytes), y = points[i].ns, weight = 1 / (y * y);
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    const double determinant = w * wxx - wx * wx;
    LinearFit s;
    if (determinant > 0) s.slope = (w * wxy - wx * wy) / determinant;
    s.slope = std::max(s.slope, 0.0);
    s.start = (wy - s.slope * wx) / w;
    if (s.start < 0) s = {0, wxy / wxx};
    return s;
}

// The slope from a fixed point on.
double slope_beyond(const std::vector<Point>& points, size_t first, double at_bytes, double at_ns) {
    double above = 0, below = 0;
    for (size_t i = first; i < points.size(); ++i) {
        const double x = static_cast<double>(points[i].bytes) - at_bytes,
                     weight = 1 / (points[i].ns * points[i].ns);
        above += weight * x * (points[i].ns - at_ns);
        below += weight * x * x;
    }
    return below > 0 ? std::max(above / below, 0.0) : 0;
}

uint64_t round_to_uint(double value) { return static_cast<uint64_t>(std::llround(value)); }

double squared_error(const proto::Curve& curve, const std::vector<Point>& points) {
    double sum = 0;
    for (const Point& p : points) {
        const double off = proto::nanoseconds(curve, p.bytes) / p.ns - 1;
        sum += off * off;
    }
    return sum;
}

} // namespace

proto::Curve fit(const std::vector<Point>& points) {
    proto::Curve best{};
    double least = -1;
    for (size_t bend = 1; bend < points.size(); ++bend) {
        const LinearFit s = fit_line(points, bend + 1);
        const double at = static_cast<double>(points[bend].bytes);
        const bool last = bend + 1 == points.size();
        const double beyond = last ? s.slope : slope_beyond(points, bend + 1, at, s.start + s.slope * at);
        const proto::Curve curve{round_to_uint(s.start), round_to_uint(s.slope * 1000),
                                 round_to_uint(beyond * 1000), points[bend].bytes};
        const double error = squared_error(curve, points);
        if (least >= 0 && error >= least) continue;
        least = error;
        best = curve;
    }
    return best;
}

double misfit(const proto::Curve& curve, const std::vector<Point>& points) {
    double worst = 0;
    for (const Point& p : points) {
        const double ratio = proto::nanoseconds(curve, p.bytes) / p.ns;
        worst = std::max(worst, std::max(ratio, 1 / ratio) - 1);
    }
    return worst;
}

SampleStats stats_of(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    const auto at = [&](double fraction) {
        return samples[static_cast<size_t>(std::lround(fraction * static_cast<double>(samples.size() - 1)))];
    };
    return {at(0.5), (at(0.75) - at(0.25)) / 2 / at(0.5)};
}

} // namespace zipmpi::tool
