// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tune/tune.hpp"

#include "base/param.hpp"
#include "proto/select/costs_file.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

using proto::MessagePath;

constexpr double max_spread = 0.15; // above this the medians are unreliable

std::string bytes_text(uint64_t bytes) {
    if (bytes == UINT64_MAX) return "none";
    if (bytes >= 64 * KiB) return fmt::format("{} KiB", bytes / KiB);
    return fmt::format("{} B", bytes);
}

std::string time_text(double ns) {
    return ns < 1000 ? fmt::format("{:.0f} ns", ns) : fmt::format("{:.2f} us", ns / 1000);
}

// Compares two paths at one size, for both states of the source.
std::string explain(uint64_t bytes, MessagePath one, const proto::PathCost& first, MessagePath other,
                    const proto::PathCost& second) {

    return fmt::format(
        "at {}: {} {} fresh, {} reused; {} {} fresh, {} reused", bytes_text(bytes), name(one),
        time_text(nanoseconds(first.fresh, bytes)), time_text(nanoseconds(first.reused, bytes)), name(other),
        time_text(nanoseconds(second.fresh, bytes)), time_text(nanoseconds(second.reused, bytes)));
}

std::string change_text(const char* what, uint64_t before, uint64_t after, const std::string& reason) {
    if (before == after) return fmt::format("  {:<15}{} as built in\n", what, bytes_text(after));
    return fmt::format("  {:<15}{}, built in {}\n{:17}{}\n", what, bytes_text(after), bytes_text(before), "",
                       reason);
}

struct NamedThreshold {
    const char* name;
    uint64_t before, after; // built in, measured
    std::string reason;
};

std::vector<NamedThreshold> thresholds_of(const Measurement& m, uint64_t cell_bytes) {
    const proto::PairCosts& c = m.costs;
    const proto::Thresholds b = thresholds_from(proto::built_in_costs(m.where.pair), cell_bytes);
    const proto::Thresholds a = thresholds_from(c, cell_bytes);
    const auto at_most = [](uint64_t bytes) { return std::min<uint64_t>(bytes, 4 * MiB); };
    const auto cma_at = [&](uint64_t bytes) {
        return explain(at_most(bytes), MessagePath::cma, c.cma, MessagePath::pipeline, c.fragments);
    };
    const auto coop_at = [&](uint64_t bytes) {
        return explain(at_most(bytes), MessagePath::coop, c.coop, MessagePath::cma, c.cma);
    };
    return {{"eager_limit", b.eager_limit, a.eager_limit,
             explain(a.eager_limit, MessagePath::cell, c.cell, MessagePath::cma, c.cma)},
            {"cma_min", b.cma_min, a.cma_min, cma_at(a.cma_min)},
            {"cma_max", b.cma_max, a.cma_max, cma_at(a.cma_max)},
            {"coop_min", b.coop_min, a.coop_min, coop_at(a.coop_min)},
            {"coop_max", b.coop_max, a.coop_max, coop_at(a.coop_max)},
            {"arena_min", b.arena_min, a.arena_min,
             explain(at_most(a.arena_min), MessagePath::arena, c.arena, MessagePath::cell, c.cell)},
            {"fragment_bytes", b.fragment_bytes, a.fragment_bytes, "best for 256 KiB and 1 MiB"},
            {"window_bytes", b.window_bytes, a.window_bytes,
             "the smallest within 3 % of the best for 256 KiB and 1 MiB"}};
}

// Null: there is none.
Json threshold_fact(uint64_t bytes) { return bytes == UINT64_MAX ? Json() : Json(bytes); }

std::string changes_of(const Measurement& m, uint64_t cell_bytes) {
    std::string out = fmt::format(
        "\n{} (CPUs {} and {}): {} for one slot, {} rounds, spread {:.0f} %, curves off by at "
        "most {:.0f} %\n",
        hwtopo::name(m.where.pair), m.where.first, m.where.second,
        time_text(static_cast<double>(m.costs.inline_ns)), m.rounds, m.spread * 100, m.misfit * 100);
    if (!m.cma_works)
        out += "  CMA is not permitted (`zipmpi info` shows the reason): built-in costs "
               "of CMA and cooperative copies\n";
    for (const NamedThreshold& t : thresholds_of(m, cell_bytes))
        out += change_text(t.name, t.before, t.after, t.reason);
    return out;
}

} // namespace

std::string changes_text(const std::vector<Measurement>& all, uint64_t cell_bytes) {
    std::string out;
    for (const Measurement& m : all) out += changes_of(m, cell_bytes);
    return out;
}

bool is_unreliable(const Measurement& m) { return m.spread > max_spread; }

Json class_facts(const std::vector<Measurement>& all, uint64_t cell_bytes) {
    Json classes = Json::array();
    for (const Measurement& m : all) {
        Json costs = Json::object();
        proto::each_constant(m.costs,
                             [&](const char* constant, const uint64_t& value) { costs[constant] = value; });
        Json thresholds = Json::array();
        for (const NamedThreshold& t : thresholds_of(m, cell_bytes))
            thresholds.push_back({{"name", t.name},
                                  {"bytes", threshold_fact(t.after)},
                                  {"built_in_bytes", threshold_fact(t.before)}});
        classes.push_back({{"class", hwtopo::name(m.where.pair)},
                           {"cpus", Json(std::vector<int>{m.where.first, m.where.second})},
                           {"rounds", m.rounds},
                           {"spread", m.spread},
                           {"misfit", m.misfit},
                           {"unreliable", is_unreliable(m)},
                           {"cma_works", m.cma_works},
                           {"thresholds", thresholds},
                           {"costs", costs}});
    }
    return classes;
}

std::string costs_file_text(const std::vector<Measurement>& all, const std::string& host) {
    std::string out = fmt::format(
        "# Message costs between ranks of {}, measured by `zipmpi tune`; "
        "see docs/guide/tuning.md.\n"
        "# Lines name = number; a missing class or constant has its built-in value.\n"
        "# _ns: nanoseconds, _ps: picoseconds per byte; cached_bytes: where a curve bends.\n"
        "# fresh: the sender has just written its buffer; reused: it sends unchanged bytes again.\n"
        "format = {}\n",
        host, proto::costs_format);
    for (const Measurement& m : all) {
        out += fmt::format("\n# {}: CPUs {} and {}, median of {} rounds, spread {:.1f} %\n{}",
                           hwtopo::name(m.where.pair), m.where.first, m.where.second, m.rounds,
                           m.spread * 100, m.detail);
        if (!m.cma_works) out += "# CMA is not permitted: its costs are built in\n";
        proto::each_constant(m.costs, [&](const char* constant, const uint64_t& value) {
            out += fmt::format("{}.{} = {}\n", hwtopo::name(m.where.pair), constant, value);
        });
    }
    return out;
}

} // namespace zipmpi::tool
