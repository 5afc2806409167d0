// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the command line of mpiexec, and variables of other launchers, ask for. The options themselves are in
// options.toml.
#pragma once

#include "base/problem.hpp"
#include "launch/link/messages.hpp"

#include <optional>
#include <string>
#include <vector>

namespace zipmpi::launch {

enum class Pmix { automatic, yes, no };

// Which variables of mpiexec's environment the ranks get.
struct Inheritance {
    enum class Kind { all, only, except } kind = Kind::all;
    std::vector<std::string> names;
};

// One program of the command line.
struct AppOptions {
    AppContext context; // path not resolved yet; env: what options set, without that of the job
    bool ranks_given = false;
    std::string soft; // numbers of ranks that are allowed; empty: all
    std::string host; // hosts of this program
    std::string search;
    std::optional<Inheritance> inherit;
    std::vector<std::string> pass_on; // names of variables that are inherited in any case
};

// Ranks that are started under another command.
struct Tool {
    std::string ranks;                // "0-3,7"; empty: all
    std::vector<std::string> command; // stands before that of the rank
    bool window = false;              // in a terminal window of its own
};

struct Options {
    std::vector<AppOptions> apps;
    PlacementPolicy placement;
    OutputPolicy output;
    std::string openmpi_directory; // of --output-filename
    JobLevel job_level = JobLevel::named;
    Pmix pmix = Pmix::automatic;
    bool keep_going = false; // a rank that dies does not end the job
    double timeout = 0;      // seconds, 0 = none
    double report_hang = 0;  // seconds, 0 = off

    std::string host, hostfile, default_hostfile, grid;
    bool no_local = false, no_oversubscribe = false;
    bool in_rounds = false; // placement.per_unit ranks for each host, and again while ranks are left
    std::string rank_file;

    std::vector<std::string> env;     // of all ranks
    std::vector<std::string> pass_on; // names of variables that all ranks inherit in any case
    Inheritance inherit;
    std::string directory, search; // of programs that do not say it themselves

    std::string agent = "ssh -x -T -o BatchMode=yes";
    struct AgentChange {
        std::string program; // in place of its first word
        std::string words;   // after its words
    };
    AgentChange agent_change, inherited_change; // of the command line; of the environment
    bool fork_only = false;
    std::string interface;
    uint32_t width = 32;

    std::vector<Tool> tools;
    std::vector<std::string> config_files; // not read yet
    std::string report_pid;
    bool dry_run = false, verbose = false;
    std::vector<std::string> notes; // options without effect, for -v
    std::string print;              // --help, --version: print this and exit with 0
};

// args: without the program's own name. environ_like: null-terminated. False: why says what is wrong.
bool parse_options(const std::vector<std::string>& args, const char* const* environ_like, Options& out,
                   Problem& why);

} // namespace zipmpi::launch
