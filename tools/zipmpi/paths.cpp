// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which way messages go between ranks of this host, by class of pair and size, and where that comes from.
#include "info.hpp"

#include "base/param.hpp"
#include "boot/node_segment.hpp"
#include "os/host.hpp"
#include "proto/select/costs_file.hpp"
#include "topo/module.hpp"
#include "wire/envelope.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace zipmpi::tool {
namespace {

using topo::PairClass;

const ParamBase* knob(std::string_view name) {
    for (const ParamBase* p : all_params())
        if (name == p->name()) return p;
    return nullptr;
}

std::string size_text(uint64_t bytes) {
    if (bytes != 0 && bytes % MiB == 0) return fmt::format("{} MiB", bytes / MiB);
    if (bytes != 0 && bytes % KiB == 0) return fmt::format("{} KiB", bytes / KiB);
    return fmt::format("{} B", bytes);
}

// Where one threshold comes from: a knob that is set goes before a file, a file before what is built in.
std::string origin_of(const char* knob_name, bool measured) {
    const ParamBase* p = knob_name != nullptr ? knob(knob_name) : nullptr;
    if (p != nullptr && p->origin() != Origin::built_in) return fmt::format("knob {}", knob_name);
    return measured ? "file" : "built in";
}

constexpr uint64_t piece_shown = 4 * KiB; // of buffers with gaps

// The sizes at which the path changes, as ranges.
Json ranges(const proto::Thresholds& t, const proto::Situation& s) {
    std::vector<uint64_t> ends = {wire::inline_max, wire::lines_max, t.eager_limit, t.gaps_eager_limit,
                                  t.kcopy_max,      t.joint_max,     UINT64_MAX};
    for (const uint64_t from :
         {t.kcopy_min, t.direct_min, t.joint_min, t.joint_shared_min, t.joint_from(false, true)})
        if (from != UINT64_MAX && from != 0) ends.push_back(from - 1);
    std::sort(ends.begin(), ends.end());
    Json list = Json::array();
    uint64_t from = 0;
    for (const uint64_t end : ends) {
        if (end < from) continue;
        const char* path = proto::name(proto::path_by(t, end, s));
        if (!list.empty() && list.back().at("path") == path)
            list.back()["to"] = end;
        else
            list.push_back({{"from", from}, {"to", end}, {"path", path}});
        from = end + 1;
        if (end == UINT64_MAX) break;
    }
    return list;
}

Json pair_facts(PairClass pair, const proto::NodeCosts& costs, bool kernel_allowed) {
    const auto index = static_cast<size_t>(pair);
    const uint64_t cell = boot::NodeSegment::new_cell_bytes();
    const bool measured = costs.measured[index];
    const proto::Thresholds t = settled(thresholds_from(costs.pair[index], cell), cell);
    return {{"class", topo::name(pair)},
            {"here", false},
            {"costs", measured ? costs.file : "built in"},
            {"paths", ranges(t, {cell, kernel_allowed, false})},
            {"paths_of_shared_memory", ranges(t, {cell, kernel_allowed, true})},
            {"paths_in_streams",
             ranges(t, {.cell_bytes = cell, .kernel_allowed = kernel_allowed, .in_stream = true})},
            {"paths_with_gaps",
             ranges(t, {.cell_bytes = cell, .kernel_allowed = kernel_allowed, .mean_piece = piece_shown})},
            {"thresholds",
             {{"eager_limit", {{"value", t.eager_limit}, {"origin", origin_of("p2p.eager_limit", measured)}}},
              {"kcopy_min", {{"value", t.kcopy_min}, {"origin", origin_of("p2p.kcopy_min", measured)}}},
              {"kcopy_max", {{"value", t.kcopy_max}, {"origin", origin_of("p2p.kcopy_min", measured)}}},
              {"fragment_bytes", {{"value", t.fragment_bytes}, {"origin", origin_of(nullptr, measured)}}},
              {"window_bytes", {{"value", t.window_bytes}, {"origin", origin_of(nullptr, measured)}}},
              {"direct_min", {{"value", t.direct_min}, {"origin", origin_of(nullptr, measured)}}},
              {"joint_min", {{"value", t.joint_min}, {"origin", origin_of("p2p.joint_min", measured)}}},
              {"joint_max", {{"value", t.joint_max}, {"origin", origin_of("p2p.joint_min", measured)}}},
              {"joint_shared_min",
               {{"value", t.joint_shared_min}, {"origin", origin_of("p2p.joint_min", measured)}}}}}};
}

void mark_classes_here(Json& pairs) {
    topo::Machine machine;
    topo::read_machine(machine);
    os::CpuUnion own;
    own.add(0);
    const std::vector<int> cpus = own.list();
    if (machine.cpus.empty() || cpus.empty()) return;
    const topo::Place first = topo::place_of(machine, {cpus.front()});
    for (const int cpu : cpus)
        pairs[static_cast<size_t>(topo::pair_class(first, topo::place_of(machine, {cpu})))]["here"] = true;
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
    Json facts{{"kernel_copy", kernel_copy_facts()}, {"file", costs.file}};
    if (!loaded) facts["faults"] = {std::string("tune.file cannot be read: ") + std::strerror(errno)};
    if (!costs.faults.empty()) facts["faults"] = costs.faults;
    const ParamBase* use = knob("kcopy.use");
    const bool wanted = use == nullptr || use->value_text() == "yes";
    if (!wanted) facts["kernel_copy"]["why"] = "switched off by the knob kcopy.use";
    const bool kernel = wanted && facts.at("kernel_copy").at("works").get<bool>();
    facts["kernel_copy"]["used"] = kernel;
    if (costs.format < proto::costs_format) facts["old_format"] = costs.format;
    facts["pairs"] = Json::array();
    for (size_t i = 0; i < topo::pair_classes; ++i)
        facts["pairs"].push_back(pair_facts(static_cast<PairClass>(i), costs, kernel));
    mark_classes_here(facts["pairs"]);
    return facts;
}

std::string paths_text(const Json& facts) {
    const Json& kernel = facts.at("kernel_copy");
    const char* how = !kernel.at("used").get<bool>() ? "not used"
                      : kernel.contains("limited")   ? "works between processes like this one only"
                                                     : "works (two processes have tried)";
    std::string out = fmt::format("\npaths of messages between ranks of this host\n  kernel copy {}", how);
    if (kernel.contains("why")) out += ": " + kernel.at("why").get<std::string>();
    out += "\n";
    for (const Json& p : facts.at("pairs")) {
        const auto costs = p.at("costs").get<std::string>();
        if (!p.at("here").get<bool>() && costs == "built in") continue; // nothing to tell about them
        out += fmt::format("  {:<12}{}\n", p.at("class").get<std::string>(), ranges_text(p.at("paths")));
        const std::pair<std::string, const char*> others[] = {
            {"memory of MPI_Alloc_mem", "paths_of_shared_memory"},
            {"while another message waits", "paths_in_streams"},
            {"with gaps, pieces of " + size_text(piece_shown), "paths_with_gaps"}};
        for (const auto& [when, key] : others)
            out += fmt::format("{:14}{}: {}\n", "", when, ranges_text(p.at(key)));
        std::string origins;
        for (const auto& [key, t] : p.at("thresholds").items())
            if (t.at("origin").get<std::string>().starts_with("knob"))
                origins += fmt::format(", {} by {}", key, t.at("origin").get<std::string>());
        out += fmt::format(
            "{:14}fragments of {}, window {}; costs: {}{}\n", "",
            size_text(p.at("thresholds").at("fragment_bytes").at("value").get<uint64_t>() + wire::line_size),
            size_text(p.at("thresholds").at("window_bytes").at("value").get<uint64_t>()), costs, origins);
    }
    if (facts.contains("old_format"))
        out += "  the file is of an older version and has no costs of joint copies: built-in ones are used; "
               "`zipmpi tune` measures them\n";
    if (facts.contains("faults"))
        for (const Json& f : facts.at("faults")) out += fmt::format("  not used: {}\n", f.get<std::string>());
    if (facts.at("file").get<std::string>().empty())
        out += "  `zipmpi tune` measures the costs on this machine\n";
    return out;
}

} // namespace zipmpi::tool
