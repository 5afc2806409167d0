// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The costs of a class of pairs, measured on one pair of that class: all points in turn, again and again, so
// that a disturbance spreads over all of them; medians of the rounds become curves.
#pragma once

#include "proto/select/cost.hpp"
#include "topo/place.hpp"
#include "tune/fit.hpp"

#include <functional>
#include <string>
#include <vector>

namespace zipmpi::tool {

struct MeasuredPair {
    topo::PairClass pair{};
    int first = 0, second = 0; // the CPUs
};

// One pair for each class that this machine has, among the CPUs that we may use.
std::vector<MeasuredPair> pairs_to_measure(const topo::Machine& machine, const std::vector<int>& usable);

struct Measurement {
    MeasuredPair where;
    proto::PairCosts costs{};
    bool kernel_copies = true; // else the costs of kernel copies are the built-in ones
    int rounds = 0;
    double spread = 0;  // the median over the points
    double misfit = 0;  // of the curve that fits worst
    std::string detail; // the points, for the file's comments
};

using Progress = std::function<void(double part)>;

// shared_cache: of the pair, 0 if none; cell_bytes: no fragment is longer.
Measurement measure(const MeasuredPair& where, uint64_t shared_cache, uint64_t cell_bytes, double seconds,
                    const Progress& progress);

} // namespace zipmpi::tool
