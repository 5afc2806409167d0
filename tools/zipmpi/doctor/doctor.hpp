// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi doctor`: finds what would keep jobs on this host, or on a list of hosts, from starting or from
// being fast. Checks try the operation where possible, and each finding has a fix.
#pragma once

#include "base/param.hpp"
#include "json.hpp"

#include <string>
#include <vector>

namespace zipmpi::tool {

struct Finding {
    std::string id; // for programs: "cma-copy", "open-files"
    std::string what, why, fix;
    bool harmless = false; // for information only, no fix needed
};
using Findings = std::vector<Finding>;

struct DoctorOptions {
    std::string program; // empty: check hosts
    std::string hosts;   // comma-separated; empty: this host only
    std::string agent = "ssh -x -T -o BatchMode=yes -o ConnectTimeout=5";
    double timeout = 10; // seconds for one host
    bool json = false;
    bool peer = false; // called by the doctor of another host: print facts for it
};

// checks of this host
void check_kernel(Findings& found);
void check_limits(Findings& found);
void check_cgroups(Findings& found); // of processes: memory, CPUs, number
void check_processors(Findings& found);
void check_launch(Findings& found);
void check_search_paths(Findings& found);
void check_settings(const std::vector<ParamError>& faults, Findings& found);
void check_modules(Findings& found);
void check_daemon(Findings& found);
void check_network(bool several_hosts, Findings& found);
void check_scratch(Findings& found);

// checks of other hosts, all concurrently
struct HostReport {
    std::string host;
    Findings found;
};
std::vector<HostReport> check_hosts(const DoctorOptions& options);

std::string own_folder();        // of this program, with links resolved
std::string version_of_daemon(); // next to this program; empty: unknown
double wall_clock();             // seconds
std::vector<std::string> split_list(const std::string& list, char separator);

Json to_json(const Findings& found);
Findings findings_from(const Json& list);

// Explains which MPI library options.program would load. 0: it can use ZipMPI.
int run_program_doctor(const DoctorOptions& options);

int run_doctor(const DoctorOptions& options, const std::vector<ParamError>& faults); // 0: no finding

} // namespace zipmpi::tool
