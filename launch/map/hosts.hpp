// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The hosts of a job, from the command line, a file, or what a batch system says: pure functions. A name that
// comes again adds its slots to the first.
#pragma once

#include "launch/map/node_map.hpp"

#include <string_view>

namespace zipmpi::launch {

using HostList = std::vector<Host>;

// All of these: false if the text is not such a list; wrong says which part.

// "a:2,b,c:4"
bool parse_host_option(std::string_view text, HostList& out, std::string& wrong);
// One host per line: "name", "name:4", "name slots=4"; '#' begins a comment. PBS_NODEFILE is one, too: there
// each line is a slot.
bool parse_host_file(std::string_view text, HostList& out, std::string& wrong);
// SLURM_JOB_NODELIST "n[01-03,7],m2" and SLURM_TASKS_PER_NODE "2(x3),1"
bool parse_slurm(std::string_view nodes, std::string_view tasks, HostList& out, std::string& wrong);

} // namespace zipmpi::launch
