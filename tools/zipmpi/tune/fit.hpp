// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fits cost curves to measured points, and statistics of samples. Pure functions.
#pragma once

#include "proto/select/cost.hpp"

#include <vector>

namespace zipmpi::tool {

struct Point {
    uint64_t bytes = 0;
    double ns = 0;
};

// Curve of two linear pieces with the least relative error. points: ascending by size, at least three.
proto::Curve fit(const std::vector<Point>& points);
// Largest relative deviation of a point from the curve.
double misfit(const proto::Curve& curve, const std::vector<Point>& points);

struct SampleStats {
    double median = 0;
    double spread = 0; // half the interquartile range, relative to the median
};
SampleStats stats_of(std::vector<double> samples);

} // namespace zipmpi::tool
