// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The zipmpi command and its subcommands.
#include "bench.hpp"
#include "doctor/doctor.hpp"
#include "info.hpp"
#include "map/map.hpp"
#include "top/top.hpp"
#include "tune/tune.hpp"

#include "base/param.hpp"
#include "base/problem.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

struct InfoOptions {
    bool knobs = false, coverage = false, missing = false, json = false, markdown = false, network = false,
         links = false;
};

CLI::App* add_info(CLI::App& app, InfoOptions& o) {
    CLI::App* info = app.add_subcommand("info", "what this installation is, and what it would do here");
    CLI::Option* knobs =
        info->add_flag("--knobs", o.knobs, "every knob: value, origin, default, unit, level, help");
    CLI::Option* coverage =
        info->add_flag("--coverage", o.coverage, "MPI functions implemented and not, by chapter");
    info->add_flag("--missing", o.missing, "with --coverage: the names of those not implemented")
        ->needs(coverage);
    info->add_flag(
            "--network", o.network,
            "in a job (mpiexec --host a,b zipmpi info --network): devices between hosts, and why these")
        ->excludes(knobs)
        ->excludes(coverage);
    info->add_flag(
            "--links", o.links,
            "in a job over clusters (mpiexec --grid FILE zipmpi info --links): clusters, gateways, and the "
            "lanes to other clusters")
        ->excludes(knobs)
        ->excludes(coverage);
    CLI::Option* json = info->add_flag("--json", o.json, "for programs: JSON instead of text");
    info->add_flag("--markdown", o.markdown, "with --knobs: the page of the guide")
        ->needs(knobs)
        ->excludes(json);
    coverage->excludes(knobs);
    return info;
}

CLI::App* add_tune(CLI::App& app, TuneOptions& o) {
    CLI::App* tune = app.add_subcommand(
        "tune", "measures what messages cost on this machine, so that each takes the fastest way");
    tune->add_option("--output", o.output, "file to write; without: where the library looks first");
    tune->add_option("--seconds", o.seconds, "how long to measure (default 30)")
        ->check(CLI::Range(0.5, 3600.0));
    tune->add_flag("--fresh", o.fresh, "measure all anew, also what an interrupted run has measured today");
    tune->add_flag("--dry-run", o.dry_run, "print the file instead of writing it");
    return tune;
}

CLI::App* add_map(CLI::App& app, MapOptions& o) {
    CLI::App* map =
        app.add_subcommand("map", "where ranks will sit, who talked to whom, and what that costs");
    map->add_option("-n,--np", o.ranks,
                    "how many ranks; without: one per core, or as many as the matrix is of");
    map->add_option(
        "--map-by", o.map_by,
        "spread, slot, core, socket, numa, l3cache, l2cache, node or comm:FILE, as mpiexec has it");
    map->add_option("--host", o.host, "HOST[:SLOTS],...; hosts are taken to be like this one");
    map->add_option("--machine", o.machine, "another machine than this one, as hwloc describes it");
    CLI::Option* matrix = map->add_option("--matrix", o.matrix, "the communication matrix of a run");
    CLI::Option* pattern = map->add_option("--pattern", o.pattern, "instead: halo:16x16, ring:8, cg:16, ...");
    pattern->excludes(matrix);
    map->add_option("--write", o.write, "write that matrix to a file")->needs(pattern);
    map->add_option("--svg", o.svg, "file for a picture of the placement");
    map->add_option("--heat", o.heat, "file for a picture of the matrix");
    return map;
}

CLI::App* add_doctor(CLI::App& app, DoctorOptions& o) {
    CLI::App* doctor = app.add_subcommand(
        "doctor", "looks for what keeps jobs from starting or from being fast here, and says what to do");
    doctor->add_option("--hosts", o.hosts, "look at these hosts too, through the launch agent")
        ->type_name("HOST,...");
    doctor->add_option("--launch-agent", o.agent, "as of mpiexec: AGENT HOST COMMAND; default ssh")
        ->type_name("COMMAND");
    doctor->add_option("--timeout", o.timeout, "seconds to wait for other hosts (default 10)")
        ->check(CLI::Range(0.1, 3600.0));
    CLI::Option* json = doctor->add_flag("--json", o.json, "for programs: JSON instead of text");
    doctor->add_flag("--as-peer", o.peer, "what the doctor of another host asks for")
        ->excludes(json)
        ->group("");
    return doctor;
}

CLI::App* add_top(CLI::App& app, TopOptions& o) {
    CLI::App* top = app.add_subcommand(
        "top", "shows the ranks of a running job on this host: where they are, whom they wait for, rates");
    top->add_option("--job", o.job, "the job with this in its id; default: all of this user, one at a time")
        ->type_name("ID");
    top->add_option("--pid", o.pid, "the job of this process: a rank, or the mpiexec that started it");
    top->add_option("--delay", o.delay, "seconds between two looks (default 0.5)")
        ->check(CLI::Range(0.05, 60.0));
    top->add_option("--sort", o.sort, "the column to sort by at first")
        ->check(CLI::IsMember({"rank", "state", "call", "peer", "messages", "bytes", "unexpected"}));
    top->add_flag("--once", o.once, "print one table and end; also without a terminal");
    top->add_flag("--links", o.links, "what goes from rank to rank per second, the busiest first");
    top->add_flag("--gateway", o.gateways, "gateways between clusters on this host, with their lanes");
    return top;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// Settings that are wrong do not stop the report: they are often what it was asked for.
int report_faults(const std::vector<ParamFault>& faults) {
    for (const ParamFault& f : faults) report({"a setting is not used", f.origin, f.why, f.todo}, "zipmpi");
    return faults.empty() ? 0 : 1;
}

int run_info(const InfoOptions& o) {
    const int status = report_faults(load_params(environ));
    if (o.knobs) {
        const Json knobs = knob_facts();
        print(o.json ? knobs.dump(2) + "\n" : o.markdown ? knobs_markdown(knobs) : knobs_text(knobs));
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
    const Json all{{"installation", installation_facts()},
                   {"launch", launch_facts(environ)},
                   {"transports", transport_facts()},
                   {"paths", path_facts()},
                   {"knobs", knob_facts()},
                   {"coverage", coverage}};
    print(o.json ? all.dump(2) + "\n" : overview_text(all));
    return status;
}

std::string help_for(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? "zipmpi --help lists the subcommands"
                          : "zipmpi " + chosen.front()->get_name() + " --help lists the options";
}

int run(int argc, char** argv) {
    CLI::App app{"Looks into ZipMPI: what it is, what it would do here, what it can.", "zipmpi"};
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
    TopOptions top_options;
    const CLI::App* top = add_top(app, top_options);
    CLI::App* bench = app.add_subcommand(
        "bench", "compares this library with others that are installed: tables, pictures, one page of HTML");
    bench->prefix_command(); // its options are its own: zipmpi bench --help
    bench->set_help_flag();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e); // --help, --version
        report({"the command line is not understood", "zipmpi", e.what(), help_for(app)}, "zipmpi");
        return 2;
    }
    if (info->parsed()) return run_info(options);
    if (bench->parsed()) return run_bench(bench->remaining());
    if (top->parsed()) return run_top(top_options);
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
        zipmpi::report({"zipmpi cannot go on", "zipmpi", e.what(), "report this as a fault of zipmpi"},
                       "zipmpi");
        return 70;
    }
}
