// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The zipmpi command and its subcommands.
#include "bench.hpp"
#include "doctor/doctor.hpp"
#include "env.hpp"
#include "info.hpp"
#include "map/map.hpp"
#include "metrics/metrics.hpp"
#include "top/top.hpp"
#include "tracing/trace.hpp"
#include "tune/tune.hpp"

#include "base/diagnostic.hpp"
#include "base/param.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

struct InfoOptions {
    bool params = false, coverage = false, missing = false, json = false, markdown = false, network = false,
         links = false;
};

CLI::App* add_info(CLI::App& app, InfoOptions& o) {
    CLI::App* info = app.add_subcommand(
        "info", "show the installation, its parameters and the message paths on this host");
    CLI::Option* params = info->add_flag("--params", o.params,
                                         "list all parameters: value, origin, default, unit, level, help");
    CLI::Option* coverage =
        info->add_flag("--coverage", o.coverage, "count implemented and missing MPI functions by chapter");
    info->add_flag("--missing", o.missing, "with --coverage: list the missing functions")->needs(coverage);
    info->add_flag("--network", o.network,
                   "in a job (mpiexec --host a,b zipmpi info --network): show the devices between hosts, "
                   "with the reason")
        ->excludes(params)
        ->excludes(coverage);
    info->add_flag("--links", o.links,
                   "in a multi-cluster job (mpiexec --clusters FILE zipmpi info --links): show clusters, "
                   "gateways, and the "
                   "paths to other clusters")
        ->excludes(params)
        ->excludes(coverage);
    CLI::Option* json = info->add_flag("--json", o.json, "print JSON instead of text");
    info->add_flag("--markdown", o.markdown, "with --params: print the page of the guide")
        ->needs(params)
        ->excludes(json);
    coverage->excludes(params);
    return info;
}

CLI::App* add_tune(CLI::App& app, TuneOptions& o) {
    CLI::App* tune = app.add_subcommand(
        "tune", "measure message costs on this machine, to select the fastest path for each message");
    tune->add_option("--output", o.output, "file to write; default: the first file that the library reads");
    tune->add_option("--seconds", o.seconds, "duration of the measurement in seconds (default 30)")
        ->check(CLI::Range(0.5, 3600.0));
    tune->add_flag("--restart", o.restart, "discard the results of an interrupted run");
    tune->add_flag("--dry-run", o.dry_run, "print the file instead of writing it");
    tune->add_flag("--json", o.json, "print the result as JSON");
    return tune;
}

CLI::App* add_map(CLI::App& app, MapOptions& o) {
    CLI::App* map = app.add_subcommand("map", "show the placement of ranks, their traffic and its cost");
    map->add_option("-n,--np", o.ranks, "number of ranks; default: one per core, or the size of the matrix");
    map->add_option("--map-by", o.map_by,
                    "spread, slot, core, socket, numa, l3cache, l2cache, node or comm:FILE, as in mpiexec");
    map->add_option("--host", o.host, "HOST[:SLOTS],...; all hosts are assumed to equal this one");
    map->add_option("--machine", o.machine, "synthetic hwloc description of another machine");
    CLI::Option* matrix = map->add_option("--matrix", o.matrix, "communication matrix of a run");
    CLI::Option* pattern = map->add_option("--pattern", o.pattern,
                                           "communication pattern instead: halo:16x16, ring:8, cg:16, ...");
    pattern->excludes(matrix);
    map->add_option("--write", o.write, "write the matrix of the pattern to a file")->needs(pattern);
    map->add_option("--svg", o.svg, "write the placement to an SVG file");
    map->add_option("--heatmap", o.heatmap, "write the heat map of the matrix to an SVG file");
    map->add_flag("--json", o.json, "print JSON instead of text");
    return map;
}

CLI::App* add_doctor(CLI::App& app, DoctorOptions& o) {
    CLI::App* doctor = app.add_subcommand(
        "doctor", "find problems that prevent jobs from starting or slow them down, with fixes");
    doctor
        ->add_option(
            "program", o.program,
            "explain which MPI library this program uses under mpiexec, instead of checking the host")
        ->type_name("PROGRAM");
    doctor->add_option("--hosts", o.hosts, "also check these hosts, through the launch agent")
        ->type_name("HOST,...");
    doctor
        ->add_option("--launch-agent", o.agent, "launch agent as in mpiexec: AGENT HOST COMMAND; default ssh")
        ->type_name("COMMAND");
    doctor->add_option("--timeout", o.timeout, "time limit for other hosts in seconds (default 10)")
        ->check(CLI::Range(0.1, 3600.0));
    CLI::Option* json = doctor->add_flag("--json", o.json, "print JSON instead of text");
    doctor->add_flag("--as-peer", o.peer, "print facts for the doctor of another host")
        ->excludes(json)
        ->group("");
    return doctor;
}

CLI::App* add_env(CLI::App& app, EnvOptions& o) {
    CLI::App* env = app.add_subcommand(
        "env", "print variables for programs built for Open MPI or MPICH, under srun and other launchers");
    CLI::Option* shell = env->add_option("--shell", o.shell, "sh, csh or fish: eval \"$(zipmpi env)\"")
                             ->check(CLI::IsMember({"sh", "csh", "fish"}));
    env->add_flag("--module", o.module, "print a module file (Environment Modules, Lmod)")->excludes(shell);
    return env;
}

CLI::App* add_top(CLI::App& app, TopOptions& o) {
    CLI::App* top =
        app.add_subcommand("top", "show the ranks of a running job on this host: state, peers and rates");
    top->add_option(
           "--job", o.job,
           "select the job whose id contains this text; default: all jobs of this user, one at a time")
        ->type_name("ID");
    top->add_option("--pid", o.pid, "select the job of this process: a rank or its mpiexec");
    top->add_option("--interval", o.interval, "refresh interval in seconds (default 0.5)")
        ->check(CLI::Range(0.05, 60.0));
    top->add_option("--sort", o.sort, "initial sort column")
        ->check(CLI::IsMember({"rank", "state", "call", "peer", "messages", "bytes", "unexpected"}));
    top->add_flag("--json", o.json, "print the ranks as JSON and exit");
    top->add_flag("--once", o.once, "print one table and exit; works without a terminal");
    CLI::Option* links =
        top->add_flag("--links", o.links, "show the traffic between ranks, the busiest links first");
    CLI::Option* gateways =
        top->add_flag("--gateways", o.gateways, "show the gateways on this host, with their ports");
    top->add_flag("--all-hosts", o.all_hosts,
                  "show the ranks of all hosts of a job; run it on the host of its mpiexec")
        ->excludes(links)
        ->excludes(gateways);
    return top;
}

CLI::App* add_metrics(CLI::App& app, MetricsOptions& o) {
    CLI::App* metrics = app.add_subcommand(
        "metrics", "print the counters of the jobs on this host in the OpenMetrics format");
    CLI::Option* output =
        metrics->add_option("--output", o.output, "write a file, which is replaced as a whole")
            ->type_name("FILE");
    metrics->add_option("--interval", o.interval, "with --output: write it again every N seconds")
        ->needs(output)
        ->check(CLI::Range(0.1, 3600.0));
    metrics->add_option("--port", o.port, "serve HTTP on this port of 127.0.0.1")
        ->check(CLI::Range(1, 65535))
        ->excludes(output);
    metrics->add_flag("--per-rank", o.per_rank,
                      "label each rank, at most 1024 per job; default: sums of jobs");
    return metrics;
}

CLI::App* add_trace(CLI::App& app, TraceOptions& o) {
    CLI::App* trace = app.add_subcommand(
        "trace", "show the profile of a trace of mpiexec --trace, or convert the trace for other tools");
    trace->add_option("directory", o.folder, "directory of --trace")->required()->type_name("DIR");
    trace->add_option("--job", o.job, "job id, if there are several; default: the latest")->type_name("ID");
    trace->add_flag("--json", o.json, "print JSON instead of text");
    trace->add_option("--perfetto", o.perfetto, "write JSON for ui.perfetto.dev and chrome://tracing")
        ->type_name("FILE");
    trace->add_option("--html", o.html, "write one page with a timeline and the profile")->type_name("FILE");
    trace->add_option("--otf2", o.otf2, "write an OTF2 archive for Vampir, Scalasca and others")
        ->type_name("FOLDER");
    return trace;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// Invalid settings do not stop the report: it often serves to find them.
int report_faults(const std::vector<ParamError>& faults) {
    for (const ParamError& f : faults) report({"a setting is ignored", f.origin, f.why, f.fix}, "zipmpi");
    return faults.empty() ? 0 : 1;
}

int run_info(const InfoOptions& o) {
    const int status = report_faults(load_params(environ));
    if (o.params) {
        const Json params = param_facts();
        print(o.json ? params.dump(2) + "\n" : o.markdown ? params_markdown(params) : params_text(params));
        return status;
    }
    if (o.network) {
        const Json network = network_facts();
        print(o.json ? network.dump(2) + "\n" : network_text(network));
        return status;
    }
    if (o.links) {
        const Json links = link_facts();
        print(o.json ? links.dump(2) + "\n" : links_text(links));
        return status;
    }
    const Json coverage = coverage_facts();
    if (o.coverage) {
        print(o.json ? coverage.dump(2) + "\n" : coverage_text(coverage, o.missing));
        return status;
    }
    const Json all{{"installation", installation_facts()}, {"launch", launch_facts(environ)},
                   {"transports", transport_facts()},      {"paths", path_facts()},
                   {"parameters", param_facts()},          {"coverage", coverage}};
    print(o.json ? all.dump(2) + "\n" : overview_text(all));
    return status;
}

std::string help_for(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? "zipmpi --help lists the subcommands"
                          : "zipmpi " + chosen.front()->get_name() + " --help lists the options";
}

int run(int argc, char** argv) {
    CLI::App app{"Inspect, diagnose, tune and benchmark a ZipMPI installation.", "zipmpi"};
    app.set_version_flag("--version", std::string("ZipMPI ") + ZIPMPI_VERSION);
    app.require_subcommand(1);
    InfoOptions options;
    TuneOptions tune_options;
    MapOptions map_options;
    const CLI::App* info = add_info(app, options);
    const CLI::App* map = add_map(app, map_options);
    add_tune(app, tune_options);
    DoctorOptions doctor_options;
    const CLI::App* doctor = add_doctor(app, doctor_options);
    EnvOptions env_options;
    const CLI::App* env = add_env(app, env_options);
    TopOptions top_options;
    const CLI::App* top = add_top(app, top_options);
    MetricsOptions metrics_options;
    const CLI::App* metrics = add_metrics(app, metrics_options);
    TraceOptions trace_options;
    const CLI::App* trace = add_trace(app, trace_options);
    CLI::App* bench = app.add_subcommand(
        "bench", "compare ZipMPI with other installed libraries: tables, plots, one HTML page");
    bench->prefix_command(); // parses its own options: zipmpi bench --help
    bench->set_help_flag();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e); // --help, --version
        report({"the command line is not valid", "zipmpi", e.what(), help_for(app)}, "zipmpi");
        return 2;
    }
    if (info->parsed()) return run_info(options);
    if (bench->parsed()) return run_bench(bench->remaining());
    if (top->parsed()) return run_top(top_options);
    if (metrics->parsed()) return run_metrics(metrics_options);
    if (trace->parsed()) return run_trace(trace_options);
    if (env->parsed()) return run_env(env_options);
    if (doctor->parsed() && !doctor_options.program.empty()) return run_program_doctor(doctor_options);
    if (doctor->parsed()) return run_doctor(doctor_options, load_params(environ));
    const int status = report_faults(load_params(environ));
    if (map->parsed()) return status != 0 ? status : run_map(map_options);
    return status != 0 ? status : run_tune(tune_options);
}

} // namespace
} // namespace zipmpi::tool

int main(int argc, char** argv) {
    try {
        return zipmpi::tool::run(argc, argv);
    } catch (const std::exception& e) {
        zipmpi::report(
            {"zipmpi failed with an internal error", "zipmpi", e.what(), "report this as a bug of ZipMPI"},
            "zipmpi");
        return 70;
    }
}
