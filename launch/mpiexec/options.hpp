// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Settings of a job, from the command line of mpiexec and from variables of other launchers. options.toml
// declares the options.
#pragma once

#include "base/diagnostic.hpp"
#include "launch/program/binding_plan.hpp"
#include "launch/protocol/messages.hpp"

#include <optional>
#include <string>
#include <vector>

namespace zipmpi::launch {

enum class Pmix { automatic, yes, no };

// Variables of mpiexec's environment that the ranks inherit. by_host: all in jobs on this host, the
// variables of forwarded_environment.hpp in jobs that use other hosts.
struct Inheritance {
    enum class Kind { by_host, all, only, except } kind = Kind::by_host;
    std::vector<std::string> names;
};

// One program of the command line.
struct AppOptions {
    AppContext context; // path not resolved yet; env: variables set for this program only
    bool ranks_given = false;
    std::string soft; // allowed numbers of ranks; empty: all
    std::string host; // hosts of this program
    std::string search;
    std::optional<Inheritance> inherit;
    std::vector<std::string> exported; // names of variables inherited in any case
};

// Command that some ranks are started under.
struct Tool {
    std::string ranks;                // "0-3,7"; empty: all
    std::vector<std::string> command; // prefix of the command of the rank
    bool window = false;              // in its own terminal window
};

// How daemons of other hosts are started.
struct LaunchOptions {
    std::string agent; // empty: chosen by automatic_agent()
    struct AgentOverride {
        std::string program;    // replaces the first word
        std::string extra_args; // appended
    };
    AgentOverride agent_override, inherited_agent_override; // from the command line; from the environment
    bool fork_only = false;
    std::string prefix; // installation on other hosts; empty: as on this host
    std::string interface;
    uint32_t fanout = 32;
};

// Programs that were built for other MPIs.
struct OtherMpis {
    MpiMode library = MpiMode::automatic;
    Pmix pmix = Pmix::automatic;
};

// What the user wants to see of the ranks.
struct ObservationOptions {
    double report_hang = 0; // seconds; 0: off
    bool profile = false;
    std::string trace_folder; // absolute; empty: no trace
    uint32_t limit_mib = 0;   // 0: the default
};

struct Options {
    std::vector<AppOptions> apps;
    PlacementPolicy placement;
    OutputPolicy output;
    std::string openmpi_directory; // of --output-filename
    JobLevel job_level = JobLevel::included;
    OtherMpis other_mpis;
    ObservationOptions observation;
    bool keep_going = false; // the job survives the death of a rank
    double timeout = 0;      // seconds; 0: none

    std::string host, hostfile, default_hostfile, cluster_file;
    bool no_local = false, no_oversubscribe = false;
    bool in_rounds = false; // placement.per_unit ranks per host, repeated until all ranks are placed
    std::string rank_file;

    std::vector<std::string> env;      // of all ranks
    std::vector<std::string> exported; // names of variables that all ranks inherit in any case
    Inheritance inherit;
    std::string directory, search; // for programs without their own

    LaunchOptions launch;

    std::vector<Tool> tools;
    std::vector<std::string> config_files; // not read yet
    std::string report_pid;
    bool dry_run = false, verbose = false;
    std::vector<std::string> notes; // options without effect, for -v
    std::string print;              // --help, --version: print this and exit with 0
};

// args: without argv[0]. environ_like: null-terminated. Returns false and sets `why` on error.
bool parse_options(const std::vector<std::string>& args, const char* const* environ_like, Options& out,
                   Diagnostic& why);

} // namespace zipmpi::launch
