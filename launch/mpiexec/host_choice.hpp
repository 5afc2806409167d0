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

// The file that the hosts come from; empty: they come from elsewhere.
std::string host_file_of(const Options& options, const std::string& named, const char* const* environ_like);

// "n[1-2],m" as --host has it: "n1,n2,m". option: who names the group.
bool expand_host_group(const std::string& group, const std::string& option, std::string& list, Problem& why);

// what: what kind of file it is, for the message.
bool read_whole_file(const std::string& path, const char* what, std::string& text, Problem& why);
bool read_host_file(const std::string& path, HostList& hosts, Problem& why);
// The name in each line, as often as it is there; with --nolocal not that of this host.
bool read_host_lines(const Options& options, const std::string& path, std::vector<std::string>& names,
                     Problem& why);

bool only_this_host(const HostList& hosts);

// The path of zipmpi-noded that belongs to this mpiexec.
std::string daemon_path();

} // namespace zipmpi::launch
