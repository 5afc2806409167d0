// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Measures the costs of a pair class on one pair: all points in turn, in rounds, so that a disturbance
// affects all of them; the medians of the rounds are fitted by curves.
#pragma once

#include "hwtopo/machine.hpp"
#include "proto/select/cost.hpp"
#include "tune/fit.hpp"

#include <functional>
#include <string>
#include <vector>

namespace zipmpi::tool {

struct MeasuredPair {
    hwtopo::PairClass pair{};
    int first = 0, second = 0; // the CPUs
};

// One pair for each class of this machine, among the usable CPUs.
std::vector<MeasuredPair> pairs_to_measure(const hwtopo::Machine& machine, const std::vector<int>& usable);

struct Measurement {
    MeasuredPair where;
    proto::PairCosts costs{};
    bool cma_works = true; // otherwise the costs of CMA copies are the built-in ones
    int rounds = 0;
    double spread = 0;  // median over the points
    double misfit = 0;  // of the worst curve
    std::string detail; // the points, for comments in the file
};

using Progress = std::function<void(double fraction)>;

// shared_cache: of the pair, 0 if none; cell_bytes: upper limit of fragments.
Measurement measure(const MeasuredPair& where, uint64_t shared_cache, uint64_t cell_bytes, double seconds,
                    const Progress& progress);

} // namespace zipmpi::tool
