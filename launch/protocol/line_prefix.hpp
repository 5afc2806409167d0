// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Prefix of each line of output: time stamp and label.
#pragma once

#include "launch/protocol/output_policy.hpp"

#include <ctime>

namespace zipmpi::launch {

struct LinePrefix {
    enum class Stamp { none, iso, openmpi } stamp = Stamp::none;
    std::string label; // after the time stamp

    [[nodiscard]] bool empty() const { return stamp == Stamp::none && label.empty(); }
    void append_to(std::string& out) const;
};

// For one stream (0: standard output, 1: standard error) of one rank. Empty if mpiexec folds lines, because
// it adds the labels.
LinePrefix prefix_of(const OutputPolicy& policy, const PatternValues& values, int stream);

// "2026-11-16 18:56:03.123 ", or Open MPI's "Mon Nov 16 18:56:03 2026"; local time.
std::string time_stamp(LinePrefix::Stamp stamp, const timespec& at);

} // namespace zipmpi::launch
