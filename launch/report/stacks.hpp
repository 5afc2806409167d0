// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Stacks of ranks for hang reports, as gdb or eu-stack print them: parsing, folding of equal ones, and the
// text of the report. Pure functions. Daemons parse and fold the stacks of their host, mpiexec folds those of
// all hosts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

using Frames = std::vector<std::string>; // function and place, the innermost first

// Ranks with equal stacks.
struct StackGroup {
    Frames frames;
    std::vector<int> ranks;  // ascending, once each
    bool main_thread = true; // false: of another thread
};

// What a host reports.
struct HostStacks {
    std::string host;
    std::string tool;               // "gdb" or "eu-stack"; empty: none is installed
    std::vector<StackGroup> groups; // of all threads that are reported
    std::vector<int> unread;        // ranks without stack
    std::string reason;             // why one of them could not be read; empty: the limits
};

// Start of the line before the output about a process; its pid follows.
inline constexpr std::string_view process_mark = "zipmpi: process ";

struct TracedRank {
    int rank = 0;
    std::string function; // its MPI call by the flight recorder; empty: none
};

// Output of the tool, with a marked line before each process; ranks: by pid. Reports the main thread of each
// process and other threads that are in an MPI call. Frames of the library become one, with the name of the
// call.
HostStacks parse_stacks(std::string_view text, const std::map<int, TracedRank>& ranks);

void add_stack(std::vector<StackGroup>& groups, const StackGroup& more);

// For stderr. limits: text about the limits, for ranks that were not read.
std::string stacks_report(const std::vector<HostStacks>& hosts, const std::string& limits);

} // namespace zipmpi::launch
