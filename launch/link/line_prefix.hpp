// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What stands in front of each line of output.
#pragma once

#include "launch/link/output_policy.hpp"

#include <ctime>

namespace zipmpi::launch {

struct LinePrefix {
    enum class Stamp { none, iso, openmpi } stamp = Stamp::none;
    std::string label; // behind the time stamp

    [[nodiscard]] bool empty() const { return stamp == Stamp::none && label.empty(); }
    void append_to(std::string& out) const;
};

// For one stream (0: standard output, 1: standard error) of one rank. Nothing where mpiexec folds lines: it
// labels them itself.
LinePrefix prefix_of(const OutputPolicy& policy, const PatternFacts& facts, int stream);

// "2026-11-16 18:56:03.123 ", or Open MPI's "Mon Nov 16 18:56:03 2026"; local time.
std::string time_stamp(LinePrefix::Stamp stamp, const timespec& at);

} // namespace zipmpi::launch
