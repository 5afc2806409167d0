// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Paths of messages between ranks of this host, by pair class and size, and the origin of the thresholds.
#include "info.hpp"

#include "base/param.hpp"
#include "hwtopo/topology_module.hpp"
#include "os/host.hpp"
#include "proto/select/costs_file.hpp"
#include "segment/node_segment.hpp"
#include "wire/envelope.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace zipmpi::tool {
namespace {

using hwtopo::PairClass;

const ParamBase* find_param(std::string_view name) {
    for (const ParamBase* p : all_params())
        if (name == p->name()) return p;
    return nullptr;
}

std::string size_text(uint64_t bytes) {
    if (bytes != 0 && bytes % MiB == 0) return fmt::format("{} MiB", bytes / MiB);
    if (bytes != 0 && bytes % KiB == 0) return fmt::format("{} KiB", bytes / KiB);
    return fmt::format("{} B", bytes);
}

// Origin of one threshold: a parameter has precedence over a file, a file over the built-in value.
std::string origin_of(const char* param_name, bool measured) {
    const ParamBase* p = param_name != nullptr ? find_param(param_name) : nullptr;
    if (p != nullptr && p->origin() != Origin::built_in) return fmt::format("parameter {}", param_name);
    return measured ? "file" : "built in";
}

constexpr uint64_t segment_shown = 4 * KiB; // mean segment of noncontiguous buffers in the report

// The sizes at which the path changes, as ranges.
Json ranges(const proto::Thresholds& t, const proto::PathQuery& s) {
    std::vector<uint64_t> ends = {
        wire::inline_max, wire::multislot_max, t.eager_limit, t.noncontig_eager_limit,
        t.cma_max,        t.coop_max,          UINT64_MAX};
    for (const uint64_t from :
         {t.cma_min, t.arena_min, t.coop_min, t.coop_arena_min, t.coop_threshold(false, true)})
        if (from != UINT64_MAX && from != 0) ends.push_back(from - 1);
    std::sort(ends.begin(), ends.end());
    Json list = Json::array();
    uint64_t from = 0;
    for (const uint64_t end : ends) {
        if (end < from) continue;
        const char* path = proto::name(proto::select_path(t, end, s));
        if (!list.empty() && list.back().at("path") == path)
            list.back()["to"] = end;
        else
            list.push_back({{"from", from}, {"to", end}, {"path", path}});
        from = end + 1;
        if (end == UINT64_MAX) break;
    }
    return list;
}

Json pair_facts(PairClass pair, const proto::NodeCosts& costs, bool cma_allowed) {
    const auto index = static_cast<size_t>(pair);
    const uint64_t cell = segment::NodeSegment::new_cell_bytes();
    const bool measured = costs.measured[index];
    const proto::Thresholds t = apply_overrides(thresholds_from(costs.pair[index], cell), cell);
    return {
        {"class", hwtopo::name(pair)},
        {"here", false},
        {"costs", measured ? costs.file : "built in"},
        {"paths", ranges(t, {cell, cma_allowed, false})},
        {"paths_of_shared_memory", ranges(t, {cell, cma_allowed, true})},
        {"paths_in_streams", ranges(t, {.cell_bytes = cell, .cma_allowed = cma_allowed, .in_stream = true})},
        {"paths_noncontiguous",
         ranges(t, {.cell_bytes = cell, .cma_allowed = cma_allowed, .mean_segment = segment_shown})},
        {"thresholds",
         {{"eager_limit", {{"value", t.eager_limit}, {"origin", origin_of("p2p.eager_limit", measured)}}},
          {"cma_min", {{"value", t.cma_min}, {"origin", origin_of("p2p.cma_min", measured)}}},
          {"cma_max", {{"value", t.cma_max}, {"origin", origin_of("p2p.cma_min", measured)}}},
          {"fragment_bytes", {{"value", t.fragment_bytes}, {"origin", origin_of(nullptr, measured)}}},
          {"window_bytes", {{"value", t.window_bytes}, {"origin", origin_of(nullptr, measured)}}},
          {"arena_min", {{"value", t.arena_min}, {"origin", origin_of(nullptr, measured)}}},
          {"coop_min", {{"value", t.coop_min}, {"origin", origin_of("p2p.coop_copy_min", measured)}}},
          {"coop_max", {{"value", t.coop_max}, {"origin", origin_of("p2p.coop_copy_min", measured)}}},
          {"coop_arena_min",
           {{"value", t.coop_arena_min}, {"origin", origin_of("p2p.coop_copy_min", measured)}}}}}};
}

void mark_classes_here(Json& pairs) {
    hwtopo::Machine machine;
    hwtopo::read_machine(machine);
    os::CpuUnion own;
    own.add(0);
    const std::vector<int> cpus = own.list();
    if (machine.cpus.empty() || cpus.empty()) return;
    const hwtopo::Locality first = hwtopo::locality_of(machine, {cpus.front()});
    for (const int cpu : cpus)
        pairs[static_cast<size_t>(hwtopo::pair_class(first, hwtopo::locality_of(machine, {cpu})))]["here"] =
            true;
}

std::string ranges_text(const Json& paths) {
    std::string out;
    for (const Json& r : paths) {
        const auto to = r.at("to").get<uint64_t>();
        out += out.empty() ? "" : ", ";
        out += r.at("path").get<std::string>();
        if (to != UINT64_MAX) out += " to " + size_text(to % KiB == KiB - 1 ? to + 1 : to);
    }
    return out;
}

} // namespace

Json path_facts() {
    proto::NodeCosts costs;
    const bool loaded = load_costs(costs);
    Json facts{{"cma_copy", cma_facts()}, {"file", costs.file}};
    if (!loaded) facts["faults"] = {std::string("tune.file cannot be read: ") + std::strerror(errno)};
    if (!costs.faults.empty()) facts["faults"] = costs.faults;
    const ParamBase* use = find_param("cma.enable");
    const bool wanted = use == nullptr || use->value_text() == "yes";
    if (!wanted) facts["cma_copy"]["why"] = "disabled by the parameter cma.enable";
    const bool kernel = wanted && facts.at("cma_copy").at("works").get<bool>();
    facts["cma_copy"]["used"] = kernel;
    if (!costs.file.empty() && costs.format != proto::costs_format) facts["other_format"] = costs.format;
    facts["pairs"] = Json::array();
    for (size_t i = 0; i < hwtopo::pair_classes; ++i)
        facts["pairs"].push_back(pair_facts(static_cast<PairClass>(i), costs, kernel));
    mark_classes_here(facts["pairs"]);
    return facts;
}

std::string paths_text(const Json& facts) {
    const Json& cma = facts.at("cma_copy");
    const char* how = !cma.at("used").get<bool>() ? "not used"
                      : cma.contains("limited")   ? "works only between processes of one user namespace"
                                                  : "works (tested with two processes)";
    std::string out = fmt::format("\npaths of messages between ranks of this host\n  CMA copy {}", how);
    if (cma.contains("why")) out += ": " + cma.at("why").get<std::string>();
    out += "\n";
    for (const Json& p : facts.at("pairs")) {
        const auto costs = p.at("costs").get<std::string>();
        if (!p.at("here").get<bool>() && costs == "built in") continue; // not relevant here
        out += fmt::format("  {:<12}{}\n", p.at("class").get<std::string>(), ranges_text(p.at("paths")));
        const std::pair<std::string, const char*> others[] = {
            {"memory of MPI_Alloc_mem", "paths_of_shared_memory"},
            {"while another message waits", "paths_in_streams"},
            {"noncontiguous, segments of " + size_text(segment_shown), "paths_noncontiguous"}};
        for (const auto& [when, key] : others)
            out += fmt::format("{:14}{}: {}\n", "", when, ranges_text(p.at(key)));
        std::string origins;
        for (const auto& [key, t] : p.at("thresholds").items())
            if (t.at("origin").get<std::string>().starts_with("parameter"))
                origins += fmt::format(", {} by {}", key, t.at("origin").get<std::string>());
        out += fmt::format(
            "{:14}fragments of {}, window {}; costs: {}{}\n", "",
            size_text(p.at("thresholds").at("fragment_bytes").at("value").get<uint64_t>() + wire::cache_line),
            size_text(p.at("thresholds").at("window_bytes").at("value").get<uint64_t>()), costs, origins);
    }
    if (facts.contains("other_format"))
        out +=
            "  the file has another format, so built-in costs are used; run `zipmpi tune` to measure them\n";
    if (facts.contains("faults"))
        for (const Json& f : facts.at("faults")) out += fmt::format("  not used: {}\n", f.get<std::string>());
    if (facts.at("file").get<std::string>().empty())
        out += "  `zipmpi tune` measures the costs on this machine\n";
    return out;
}

} // namespace zipmpi::tool
