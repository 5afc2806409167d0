// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which hosts a job runs on: --host, --hostfile, then what Slurm or PBS say, else this host alone.
#pragma once

#include "launch/map/hosts.hpp"
#include "launch/mpiexec/options.hpp"

namespace zipmpi::launch {

// named: hosts of the command line. hosts stays empty if nobody names any.
bool choose_hosts(const Options& options, const std::string& named, const char* const* environ_like,
                  HostList& hosts, Problem& why);

// what: what kind of file it is, for the message.
bool read_whole_file(const std::string& path, const char* what, std::string& text, Problem& why);
bool read_host_file(const std::string& path, HostList& hosts, Problem& why);
// The name in each line, as often as it is there.
bool read_host_lines(const std::string& path, std::vector<std::string>& names, Problem& why);

bool only_this_host(const HostList& hosts);

// The path of zipmpi-noded that belongs to this mpiexec.
std::string daemon_path();

} // namespace zipmpi::launch
