// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Lists of hosts from the command line, a file or a batch system: pure functions. A repeated name adds its
// slots to the first entry.
#pragma once

#include "launch/placement/node_map.hpp"

#include <string_view>

namespace zipmpi::launch {

using HostList = std::vector<Host>;

inline constexpr double least_speed = 0.001; // relative speeds are between this and its reciprocal
bool is_speed(double value);

// All parsers return false and set `wrong` to the offending text if the input is not valid.

// "a:2,b,c:4"
bool parse_host_option(std::string_view text, HostList& out, std::string& wrong);
// One host per line: "name", "name:4", "name slots=4 speed=1.5", "name 4"; '#' starts a comment. Files of
// batch systems have this form: PBS, LSF and OAR with one line per slot, SGE with "name 4 queue range".
bool parse_host_file(std::string_view text, HostList& out, std::string& wrong);
// "a 4 b 2", as LSB_MCPU_HOSTS
bool parse_host_pairs(std::string_view text, HostList& out, std::string& wrong);
// SLURM_JOB_NODELIST "n[01-03,7],m2" and SLURM_TASKS_PER_NODE "2(x3),1"
bool parse_slurm(std::string_view nodes, std::string_view tasks, HostList& out, std::string& wrong);

} // namespace zipmpi::launch
