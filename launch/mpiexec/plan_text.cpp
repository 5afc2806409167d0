// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/planning.hpp"

#include "launch/mpiexec/allocation.hpp"
#include "launch/placement/hardware_units.hpp"
#include "launch/report/report_text.hpp"
#include "launch/tree/agent.hpp"

#include <algorithm>
#include <cstdio>

namespace zipmpi::launch {
namespace {

class PlanText {
  public:
    void line(const std::string& name, const std::string& value) { text_ += name + " " + value + "\n"; }
    void line_unless_empty(const std::string& name, const std::string& value) {
        if (!value.empty()) line(name, value);
    }
    void flag(const std::string& name, bool set) {
        if (set) text_ += name + "\n";
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

std::string quoted_list(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& w : words) all += (all.empty() ? "" : " ") + shell_quote(w);
    return all;
}

void add_inheritance(PlanText& out, const Inheritance& i) {
    if (i.kind == Inheritance::Kind::by_host) return;
    const char* const kind = i.kind == Inheritance::Kind::all      ? "all"
                             : i.kind == Inheritance::Kind::except ? "all but"
                             : i.names.empty()                     ? "nothing"
                                                                   : "only";
    out.line("inherit", kind + (i.names.empty() ? "" : " " + quoted_list(i.names)));
}

void add_programs(PlanText& out, const Options& options, const StartRequest& request) {
    for (size_t i = 0; i < request.apps.size(); ++i) {
        const AppContext& app = request.apps[i];
        out.line("program", std::to_string(app.ranks) + " x " + quoted_list(options.apps[i].context.argv));
        out.line_unless_empty("  directory", app.directory);
        for (const std::string& e : options.apps[i].context.env) out.line("  env", e);
        if (!options.apps[i].exported.empty()) out.line("  pass on", quoted_list(options.apps[i].exported));
        if (options.apps[i].inherit) {
            PlanText own;
            add_inheritance(own, *options.apps[i].inherit);
            std::string text = own.take();
            text.pop_back();
            out.line(" ", text);
        }
        out.line_unless_empty("  search", options.apps[i].search);
    }
    for (const std::string& e : options.env) out.line("env", e);
    if (!options.exported.empty()) out.line("pass on", quoted_list(options.exported));
    add_inheritance(out, options.inherit);
    for (const Tool& t : options.tools)
        out.line("tool", (t.window ? "window " : "") +
                             (t.command.empty() ? "" : quoted_list(t.command) + " ") + "for ranks " +
                             (t.ranks.empty() ? "all" : t.ranks));
}

void add_hosts(PlanText& out, const Options& options, const StartRequest& request) {
    if (request.tree.hosts.empty()) return out.line("host", "this one");
    for (uint32_t node = 0; node < request.tree.hosts.size(); ++node) {
        const std::vector<uint32_t> ranks = request.map.ranks_of(node);
        out.line("host", request.tree.hosts[node] +
                             (ranks.empty() ? "" : " ranks " + rank_list({ranks.begin(), ranks.end()})));
    }
    out.line_unless_empty("agent", agent_text(request));
    if (request.tree.daemon != request.tree.local_daemon) out.line("daemon", request.tree.daemon);
    out.line_unless_empty("interface", options.launch.interface);
    if (options.launch.fanout != LaunchOptions().fanout)
        out.line("fanout", std::to_string(options.launch.fanout));
}

std::string mapping_of(const PlacementPolicy& p) {
    const std::string unit = unit_name(p.map_unit);
    switch (p.strategy) {
    case MapStrategy::automatic:
        return "";
    case MapStrategy::packed:
        return "packed by " + unit;
    case MapStrategy::round_robin:
        return "in turn by " + unit;
    case MapStrategy::spread:
        return "spread";
    case MapStrategy::per_unit:
        return std::to_string(p.per_unit) + " per " + unit;
    case MapStrategy::matrix:
        return "matrix " + p.matrix_file;
    case MapStrategy::rank_file:
        return "rank file";
    case MapStrategy::sequential:
        return "lines of the host file";
    }
    return "";
}

void add_placement(PlanText& out, const PlacementPolicy& p) {
    out.line_unless_empty("map", mapping_of(p));
    for (const auto& r : p.rank_file)
        out.line("  rank", std::to_string(r.rank) + " host " + r.host + " cpus " + r.cpus);
    if (p.cores_per_rank > 0) out.line("cores", std::to_string(p.cores_per_rank) + " per rank");
    if (p.rank_by != Unit::automatic) out.line("rank by", unit_name(p.rank_by));
    if (p.bind_to != Unit::automatic) out.line("bind", unit_name(p.bind_to));
    out.flag("no overload", !p.overload_allowed);
    out.line_unless_empty("cpus", p.cpu_set);
    out.flag("report bindings", p.report_bindings);
    out.flag("show placement", p.show_map);
}

void add_output(PlanText& out, const OutputPolicy& o) {
    const std::string tag = o.tag == OutputPolicy::Tag::openmpi ? "openmpi"
                            : o.tag == OutputPolicy::Tag::rank  ? "rank"
                                                                : "'" + o.tag_pattern + "'";
    if (o.label != OutputPolicy::Label::none)
        out.line("label", tag + (o.label == OutputPolicy::Label::fold ? " folded" : ""));
    out.flag("timestamps", o.timestamps);
    out.line_unless_empty("stdout file", o.out_file);
    out.line_unless_empty("stderr file", o.err_file);
    out.flag("files only", !o.copy_to_terminal);
    out.flag("stderr to stdout", o.merge_stderr_to_stdout);
    if (o.stdin_for != OutputPolicy::Stdin::one)
        out.line("stdin", o.stdin_for == OutputPolicy::Stdin::all ? "all" : "none");
    else if (o.stdin_rank != 0)
        out.line("stdin", "rank " + std::to_string(o.stdin_rank));
    out.flag("print exit codes", o.print_exit_codes);
}

std::string seconds_text(double d) {
    char text[32];
    std::snprintf(text, sizeof text, "%g s", d);
    return text;
}

} // namespace

std::string agent_text(const StartRequest& request) {
    if (request.tree.agents.empty()) return {};
    std::string words = quoted_list(request.tree.agents[0]);
    return words == ssh_agent ? std::string() : words;
}

std::string plan_text(const Options& options, const StartRequest& request) {
    PlanText out;
    out.line("ranks", std::to_string(request.world_size));
    add_programs(out, options, request);
    add_hosts(out, options, request);
    add_placement(out, request.placement);
    add_output(out, request.output);
    if (options.timeout > 0) out.line("timeout", seconds_text(options.timeout));
    const ObservationOptions& seen = options.observation;
    if (seen.report_hang > 0) out.line("report hang", seconds_text(seen.report_hang));
    if (seen.profile) out.line("profile", "at the end");
    if (!seen.trace_folder.empty()) out.line("trace", seen.trace_folder);
    out.flag("keep going", options.keep_going);
    if (options.other_mpis.pmix != Pmix::automatic)
        out.line("pmix", options.other_mpis.pmix == Pmix::yes ? "yes" : "no");
    out.line_unless_empty("clusters", options.cluster_file);
    return out.take();
}

} // namespace zipmpi::launch
