// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Selects the hosts of a job: --host, --hostfile, then the allocation of a batch system, otherwise this host.
#pragma once

#include "launch/mpiexec/options.hpp"
#include "launch/placement/host_list.hpp"

namespace zipmpi::launch {

// named: hosts of the command line. `hosts` stays empty if no source names any.
bool choose_hosts(const Options& options, const std::string& named, const char* const* environ_like,
                  HostList& hosts, Diagnostic& why);

// Host file in use; empty if the hosts come from another source.
std::string host_file_of(const Options& options, const std::string& named, const char* const* environ_like);

// Launch agent of the batch system if all these hosts are in its allocation, otherwise ssh.
std::string automatic_agent(const HostList& hosts, const char* const* environ_like);

// Expands "n[1-2],m" to "n1,n2,m", the form of --host. option: option that has the group, for messages.
bool expand_host_group(const std::string& group, const std::string& option, std::string& list,
                       Diagnostic& why);

// what: kind of file, for the message.
bool read_whole_file(const std::string& path, const char* what, std::string& text, Diagnostic& why);
bool read_host_file(const std::string& path, HostList& hosts, Diagnostic& why);
// Host names in the order of the lines, with repetitions; with --nolocal without this host.
bool read_host_lines(const Options& options, const std::string& path, std::vector<std::string>& names,
                     Diagnostic& why);

bool is_only_this_host(const HostList& hosts);

} // namespace zipmpi::launch
