// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// From measured points to a cost curve; from samples to a figure. Pure functions.
#pragma once

#include "proto/select/cost.hpp"

#include <vector>

namespace zipmpi::tool {

struct Point {
    uint64_t bytes = 0;
    double ns = 0;
};

// The curve of two pieces with the least relative error. Points in the order of their sizes, at least three.
proto::Curve fit(const std::vector<Point>& points);
// The largest factor, minus one, by which a point is off the curve.
double misfit(const proto::Curve& curve, const std::vector<Point>& points);

struct Figure {
    double median = 0;
    double spread = 0; // half the distance between the quartiles, as a part of the median
};
Figure figure_of(std::vector<double> samples);

} // namespace zipmpi::tool
