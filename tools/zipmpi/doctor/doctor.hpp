// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi doctor`: looks for what would keep jobs on this host, or on a list of hosts, from starting or from
// being fast. Every check tries the thing itself where it can, and each finding comes with its remedy.
#pragma once

#include "base/param.hpp"
#include "json.hpp"

#include <string>
#include <vector>

namespace zipmpi::tool {

struct Finding {
    std::string id; // for programs: "kernel-copy", "open-files"
    std::string what, why, fix;
    bool harmless = false; // worth knowing, and nothing to repair
};
using Findings = std::vector<Finding>;

struct DoctorOptions {
    std::string hosts; // comma-separated; empty: this host only
    std::string agent = "ssh -x -T -o BatchMode=yes -o ConnectTimeout=5";
    double timeout = 10; // seconds for one host
    bool json = false;
    bool peer = false; // asked by the doctor of another host: facts for it
};

// this host
void check_kernel(Findings& found);
void check_limits(Findings& found);
void check_groups(Findings& found); // of processes: memory, CPUs, number
void check_processors(Findings& found);
void check_launch(Findings& found);
void check_search_paths(Findings& found);
void check_settings(const std::vector<ParamFault>& faults, Findings& found);
void check_modules(Findings& found);
void check_daemon(Findings& found);
void check_network(bool several_hosts, Findings& found);
void check_scratch(Findings& found);

// others, all at the same time
struct HostReport {
    std::string host;
    Findings found;
};
std::vector<HostReport> check_hosts(const DoctorOptions& options);

std::string own_folder();        // of this program, without links
std::string version_of_daemon(); // beside this program; empty: it does not say one
double wall_clock();             // seconds
std::vector<std::string> words_of(const std::string& list, char separator);

Json to_json(const Findings& found);
Findings findings_from(const Json& list);

int run_doctor(const DoctorOptions& options, const std::vector<ParamFault>& faults); // 0: nothing found

} // namespace zipmpi::tool
