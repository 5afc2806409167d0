// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Options about mapping, ranking and binding: they fill the placement policy.
#include "launch/mpiexec/actions.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/placement/hardware_units.hpp"

#include <cstdlib>

namespace zipmpi::launch::act {
namespace {

constexpr const char* map_by_hint = "write slot, core, hwthread, l1cache, l2cache, l3cache, numa, socket, "
                                    "board, node, spread, seq, ppr:N:UNIT "
                                    "or comm:FILE";
constexpr const char* bind_to_hint =
    "write --bind-to core, socket or none, or hwthread, l1cache, l2cache, l3cache, numa, board";

// Hardware unit by its name in lower case; `automatic` if there is none of this name.
Unit find_unit(std::string name) {
    if (name.size() == 8 && name[0] == 'l' && name.ends_with("cache") &&
        (name[2] == 'd' || name[2] == 'i' || name[2] == 'u'))
        name.erase(2, 1); // hydra's l1dcache
    Unit unit = Unit::automatic;
    launch::parse_unit(name == "machine" ? "board" : name, unit); // both mean the whole host
    return unit;
}

bool parse_positive(const std::string& text, uint32_t& out) {
    char* end = nullptr;
    const long n = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || n < 1 || n > 1'000'000) return false;
    out = static_cast<uint32_t>(n);
    return true;
}

bool is_cpu_list(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789,-") == std::string_view::npos &&
           text[0] != ',';
}

bool set_cpu_set(const Use& use, const std::string& text, Draft& draft, Diagnostic& why) {
    if (!is_cpu_list(text))
        return bad_value(use, "is not a list of CPUs", "write for example: --cpu-set 0-3,8", why);
    draft.job.placement.cpu_set = text;
    return true;
}

void bind_to_hwthreads(Options& job) {
    if (job.placement.bind_to == Unit::automatic || job.placement.bind_to == Unit::core)
        job.placement.bind_to = Unit::hwthread;
}

// One modifier of --map-by.
bool apply_map_modifier(const Use& use, const std::string& text, Draft& draft, Diagnostic& why) {
    Options& job = draft.job;
    const std::string word = lower_case(text.substr(0, text.find('=')));
    const std::string value = text.size() > word.size() ? text.substr(word.size() + 1) : "";
    if (word == "pe")
        return parse_positive(value, job.placement.cores_per_rank) ||
               bad_value(use, "has no number of cores after PE=", "write for example: --map-by slot:PE=2",
                         why);
    if (word == "pe-list") return set_cpu_set(use, value, draft, why);
    if (word == "file") {
        (job.placement.strategy == MapStrategy::rank_file ? job.rank_file : job.hostfile) = value;
        return true;
    }
    if (word == "nooversubscribe") return job.no_oversubscribe = true;
    if (word == "nolocal") return job.no_local = true;
    if (word == "hwtcpus") {
        bind_to_hwthreads(job);
        return true;
    }
    if (word == "donotlaunch") return job.dry_run = true;
    if (word == "display" || word == "displaydevel") return job.placement.show_map = true;
    for (const char* known :
         {"oversubscribe", "span", "corecpus", "inherit", "noinherit", "device", "ordered", "bind-to"})
        if (word == known) {
            job.notes.push_back(use.written + " ... :" + text +
                                " has no effect: ranks are placed without it");
            return true;
        }
    uint32_t hydra = 0; // core:2
    return parse_positive(word, hydra) ||
           bad_value(use, "has the unknown modifier '" + text + "'",
                     "write PE=N, NOOVERSUBSCRIBE, NOLOCAL, HWTCPUS or PE-LIST=CPUS after ':'", why);
}

// "pe=2,span:file=a,b" -> pe=2 span file=a,b
std::vector<std::string> split_modifiers(std::string_view text) {
    std::vector<std::string> all;
    for (const std::string& part : split(text, ':')) {
        const std::string lower = lower_case(part);
        if (lower.starts_with("pe-list=") || lower.starts_with("file=")) {
            all.push_back(part);
            continue;
        }
        for (std::string& word : split(part, ',')) all.push_back(std::move(word));
    }
    return all;
}

// Parses a leading "ppr:N:UNIT".
bool parse_ppr(const Use& use, std::string& text, PlacementPolicy& p, Diagnostic& why) {
    const std::vector<std::string> parts = split(text, ':');
    p.strategy = MapStrategy::per_unit;
    p.map_unit = parts.size() > 2 ? find_unit(lower_case(parts[2])) : Unit::automatic;
    if (p.map_unit == Unit::automatic || p.map_unit == Unit::none || p.map_unit == Unit::slot ||
        !parse_positive(parts[1], p.per_unit))
        return bad_value(use, "is not a number of ranks per hardware unit",
                         "write for example: --map-by ppr:2:socket, or -N 2", why);
    text.erase(0, std::min(parts[0].size() + parts[1].size() + parts[2].size() + 2, text.size()));
    return true;
}

bool parse_map_unit(const Use& use, const std::string& name, PlacementPolicy& p, Diagnostic& why) {
    const Unit unit = find_unit(name);
    p.map_unit = unit;
    if (name == "spread")
        p.strategy = MapStrategy::spread;
    else if (name == "seq" || name == "sequential")
        p.strategy = MapStrategy::sequential;
    else if (name == "rankfile")
        p.strategy = MapStrategy::rank_file;
    else if (name == "dist" || name == "distance" || name == "mindist" || name == "likwid")
        p.strategy = MapStrategy::automatic;
    else if (unit == Unit::slot || unit == Unit::core || unit == Unit::hwthread)
        p.strategy = MapStrategy::packed;
    else if (unit != Unit::automatic && unit != Unit::none)
        p.strategy = MapStrategy::round_robin;
    else
        return bad_value(use, "is not a mapping", std::string(map_by_hint), why);
    return true;
}

// hydra's "core:2", Open MPI's "core:overload-allowed".
bool apply_bind_modifier(const Use& use, const std::string& word, PlacementPolicy& p, Diagnostic& why) {
    if (word == "report")
        p.report_bindings = true;
    else if (word == "overload-allowed")
        p.overload_allowed = true;
    else if (word == "no-overload" || word == "nooverload-allowed")
        p.overload_allowed = false;
    else if (!(word == "if-supported" || word == "ordered" || word == "1" ||
               (p.bind_to == Unit::core && parse_positive(word, p.cores_per_rank))))
        return bad_value(use, "has the unknown modifier '" + word + "'",
                         "write core:N, or overload-allowed, no-overload, if-supported or report after ':'",
                         why);
    return true;
}

} // namespace

bool map_by(const Use& use, Draft& draft, Diagnostic& why) {
    PlacementPolicy& p = draft.job.placement;
    std::string text = use.value();
    const std::string lower = lower_case(text);
    p.matrix_file.clear();
    draft.job.in_rounds = false;
    if (lower.starts_with("comm:")) {
        p.strategy = MapStrategy::matrix;
        p.matrix_file = text.substr(5);
        return !p.matrix_file.empty() || bad_value(use, "is not a mapping", std::string(map_by_hint), why);
    }
    if (lower.starts_with("ppr:")) {
        if (!parse_ppr(use, text, p, why)) return false;
    } else if (lower.starts_with("pe-list=")) {
        p.strategy = MapStrategy::packed;
        p.map_unit = Unit::core;
    } else if (!text.starts_with(':')) {
        const size_t end = std::min(text.find(':'), text.size());
        if (!parse_map_unit(use, lower.substr(0, end), p, why)) return false;
        text.erase(0, end);
    }
    for (const std::string& word : split_modifiers(text))
        if (!apply_map_modifier(use, word, draft, why)) return false;
    return true;
}

// hydra: -ppn.
bool ranks_per_round(const Use& use, Draft& draft, Diagnostic& why) {
    const std::string text = "ppr:" + use.value() + ":node";
    if (!apply_option("--map-by", &text, use, draft, why)) return false;
    return draft.job.in_rounds = true;
}

bool rank_by(const Use& use, Draft& draft, Diagnostic& why) {
    std::string name = lower_case(use.value());
    name.resize(std::min(name.find(':'), name.size())); // ":span", ":fill"
    const Unit unit = name == "fill" || name == "span" ? Unit::slot : find_unit(name);
    if (unit == Unit::automatic || unit == Unit::none)
        return bad_value(use, "is not a ranking", "write slot, core, hwthread, numa, socket, board or node",
                         why);
    draft.job.placement.rank_by = unit;
    return true;
}

bool bind_to(const Use& use, Draft& draft, Diagnostic& why) {
    PlacementPolicy& p = draft.job.placement;
    const std::vector<std::string> parts = split(lower_case(use.value()), ':');
    const std::string name = parts.empty() ? "" : parts[0];
    if (name == "user")
        return bad_value(use, "has CPUs for each rank", "write them to a file for --rankfile", why);
    const Unit unit = name == "rr" ? Unit::core : find_unit(name);
    if (unit == Unit::automatic || unit == Unit::slot || unit == Unit::node) {
        if (name != "cpu-list" && name != "cpulist")
            return bad_value(use, "is not a binding", bind_to_hint, why);
    } else {
        p.bind_to = unit;
    }
    for (size_t i = 1; i < parts.size(); ++i)
        for (const std::string& word : split(parts[i], ','))
            if (!apply_bind_modifier(use, word, p, why)) return false;
    return true;
}

bool cores_per_rank(const Use& use, Draft& draft, Diagnostic& why) {
    return parse_positive(use.value(), draft.job.placement.cores_per_rank) ||
           bad_value(use, "is not a number of cores", "write for example: " + use.written + " 2", why);
}

bool cpu_set(const Use& use, Draft& draft, Diagnostic& why) {
    return set_cpu_set(use, use.value(), draft, why);
}

bool rank_file(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    draft.job.rank_file = use.value();
    draft.job.placement.strategy = MapStrategy::rank_file;
    return true;
}

bool hwthread_cpus(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    bind_to_hwthreads(draft.job);
    return true;
}

bool report_bindings(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    return draft.job.placement.report_bindings = true;
}

bool show_map(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    return draft.job.placement.show_map = true;
}

// Intel MPI: "socket", "cache3", "4:compact", "omp", "auto".
bool pin_domain(const Use& use, Draft& draft, Diagnostic& why) {
    PlacementPolicy& p = draft.job.placement;
    const std::vector<std::string> parts = split(lower_case(use.value()), ':');
    const std::string name = parts.empty() ? "" : parts[0];
    if (parts.size() > 1 && parts[1] == "scatter") p.strategy = MapStrategy::spread;
    if (name == "omp" || name == "auto" || parse_positive(name, p.cores_per_rank)) return true;
    const Unit unit = name == "sock"              ? Unit::socket
                      : name == "node"            ? Unit::board
                      : name == "cache"           ? Unit::l3cache
                      : name.starts_with("cache") ? find_unit("l" + name.substr(5) + "cache")
                                                  : find_unit(name);
    if (unit == Unit::automatic || unit == Unit::slot)
        return bad_value(use, "is not a domain",
                         "write core, socket, numa, node, cache3, omp, auto or a number of cores", why);
    p.bind_to = unit;
    return true;
}

bool pin_cell(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    if (lower_case(use.value()) == "unit") bind_to_hwthreads(draft.job);
    return true;
}

// Intel MPI: "0,2,4-7", or sets such as "allcores:map=scatter".
bool pin_processors(const Use& use, Draft& draft, Diagnostic& why) {
    const std::string text = lower_case(use.value());
    PlacementPolicy& p = draft.job.placement;
    if (text.find("map=scatter") != std::string::npos || text.find("map=spread") != std::string::npos)
        p.strategy = MapStrategy::spread;
    if (!is_cpu_list(text)) return accept(use, draft, why);
    p.cpu_set = text;
    if (p.bind_to == Unit::automatic) p.bind_to = Unit::core;
    return true;
}

bool pin_order(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    const std::string order = lower_case(use.value());
    PlacementPolicy& p = draft.job.placement;
    if (order == "scatter" || order == "spread") p.strategy = MapStrategy::spread;
    if (order == "compact" || order == "bunch" || order == "range") p.strategy = MapStrategy::packed;
    return true;
}

// Intel MPI: a number, or "all" and "allcores", which fill a host before the next.
bool per_host_variable(const Use& use, Draft& draft, Diagnostic& why) {
    const std::string text = lower_case(use.value());
    return text == "all" || text == "allcores" || apply_option("-ppn", &text, use, draft, why);
}

} // namespace zipmpi::launch::act
