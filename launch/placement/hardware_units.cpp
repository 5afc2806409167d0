// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/hardware_units.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

namespace zipmpi::launch {
namespace {

constexpr int max_cpus = 1 << 14;

struct UnitName {
    Unit unit;
    const char* names[4]; // the first one is printed
};

constexpr UnitName unit_names[] = {
    {Unit::none, {"none"}},
    {Unit::slot, {"slot"}},
    {Unit::hwthread, {"hwthread", "pu"}},
    {Unit::core, {"core"}},
    {Unit::l1cache, {"l1cache", "l1"}},
    {Unit::l2cache, {"l2cache", "l2"}},
    {Unit::l3cache, {"l3cache", "l3"}},
    {Unit::numa, {"numa", "numanode"}},
    {Unit::socket, {"socket", "package"}},
    {Unit::board, {"board"}},
    {Unit::node, {"node", "machine", "host"}},
};

// Levels at which to search a unit, from its own downward. A first-level cache always belongs to one core.
std::vector<hwtopo::Level> levels_of(Unit unit) {
    using hwtopo::Level;
    switch (unit) {
    case Unit::socket:
        return {Level::package};
    case Unit::numa:
        return {Level::numa, Level::package};
    case Unit::l3cache:
        return {Level::l3, Level::l2, Level::core};
    case Unit::l2cache:
        return {Level::l2, Level::core};
    case Unit::core:
    case Unit::l1cache:
        return {Level::core};
    case Unit::hwthread:
        return {Level::cpu};
    default:
        return {Level::machine};
    }
}

hwtopo::Locality common_locality(const hwtopo::Locality& a, const hwtopo::Locality& b) {
    const auto both = [](uint16_t x, uint16_t y) { return x == y ? x : hwtopo::spans_several; };
    return {both(a.package, b.package), both(a.numa, b.numa), both(a.l3, b.l3),
            both(a.l2, b.l2),           both(a.core, b.core), both(a.cpu, b.cpu)};
}

bool parse_number(std::string_view text, int& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size() && out >= 0 && out < max_cpus;
}

// Calls back for each token between the separators; returns false at the first rejected one.
template <class Take>
bool for_each_part(std::string_view text, char separator, Take&& take) {
    for (;;) {
        const size_t end = text.find(separator);
        if (!take(text.substr(0, end))) return false;
        if (end == std::string_view::npos) return true;
        text.remove_prefix(end + 1);
    }
}

} // namespace

HostCores cores_of(const hwtopo::Machine& machine, const CpuList& allowed) {
    HostCores cores;
    uint16_t last = hwtopo::spans_several;
    for (const hwtopo::CpuLocality& c : machine.cpus) {
        if (!std::binary_search(allowed.begin(), allowed.end(), c.cpu)) continue;
        if (cores.empty() || c.locality.core != last || last == hwtopo::spans_several) {
            cores.cpus.emplace_back();
            cores.localities.push_back(c.locality);
        }
        last = c.locality.core;
        cores.cpus.back().push_back(c.cpu);
        cores.localities.back() = common_locality(cores.localities.back(), c.locality);
    }
    if (!cores.empty()) return cores;
    for (const int cpu : allowed) {
        const auto i = static_cast<uint16_t>(cores.size());
        cores.cpus.push_back({cpu});
        cores.localities.push_back({0, 0, 0, hwtopo::spans_several, i, i});
    }
    return cores;
}

HostCores hwthreads_of(const HostCores& cores) {
    HostCores threads;
    uint16_t next = 0;
    for (size_t c = 0; c < cores.size(); ++c)
        for (const int cpu : cores.cpus[c]) {
            threads.cpus.push_back({cpu});
            threads.localities.push_back(cores.localities[c]);
            threads.localities.back().cpu = next++;
        }
    return threads;
}

HostCores exclude_cpus(const HostCores& cores, const CpuList& taken) {
    HostCores left;
    for (size_t c = 0; c < cores.size(); ++c) {
        const CpuList& cpus = cores.cpus[c];
        if (std::find_first_of(cpus.begin(), cpus.end(), taken.begin(), taken.end()) != cpus.end()) continue;
        left.cpus.push_back(cpus);
        left.localities.push_back(cores.localities[c]);
    }
    return left;
}

HostCores restrict_to_cpus(const HostCores& cores, const CpuList& wanted) {
    HostCores left;
    for (size_t c = 0; c < cores.size(); ++c) {
        CpuList cpus;
        for (const int cpu : cores.cpus[c])
            if (std::find(wanted.begin(), wanted.end(), cpu) != wanted.end()) cpus.push_back(cpu);
        if (cpus.empty()) continue;
        left.cpus.push_back(std::move(cpus));
        left.localities.push_back(cores.localities[c]);
    }
    return left;
}

HostCores merge_core_blocks(const HostCores& cores, const std::vector<CoreIndices>& blocks) {
    HostCores all;
    for (const CoreIndices& block : blocks) {
        all.cpus.push_back(cpus_of(cores, block));
        all.localities.push_back(cores.localities[block[0]]);
        for (const uint32_t c : block)
            all.localities.back() = common_locality(all.localities.back(), cores.localities[c]);
    }
    return all;
}

CpuList cpus_of(const HostCores& cores, const CoreIndices& which) {
    CpuList cpus;
    for (const uint32_t c : which) cpus.insert(cpus.end(), cores.cpus[c].begin(), cores.cpus[c].end());
    std::sort(cpus.begin(), cpus.end());
    return cpus;
}

CpuList all_cpus(const HostCores& cores) {
    CpuList cpus;
    for (const CpuList& core : cores.cpus) cpus.insert(cpus.end(), core.begin(), core.end());
    std::sort(cpus.begin(), cpus.end());
    return cpus;
}

std::vector<uint32_t> unit_indices(const std::vector<hwtopo::Locality>& localities, Unit unit) {
    const std::vector<hwtopo::Level> levels = levels_of(unit);
    std::map<std::pair<size_t, size_t>, uint32_t> known; // level and number on it, or the core
    std::vector<uint32_t> units;
    for (size_t c = 0; c < localities.size(); ++c) {
        size_t l = 0;
        while (l < levels.size() && hwtopo::index_at(localities[c], levels[l]) == hwtopo::spans_several) ++l;
        const size_t index = l < levels.size() ? hwtopo::index_at(localities[c], levels[l]) : c;
        units.push_back(known.try_emplace({l, index}, static_cast<uint32_t>(known.size())).first->second);
    }
    return units;
}

std::vector<CoreIndices> group_by_unit(const std::vector<hwtopo::Locality>& localities,
                                       const CoreIndices& members, Unit unit) {
    std::vector<hwtopo::Locality> member_localities;
    member_localities.reserve(members.size());
    for (const uint32_t c : members) member_localities.push_back(localities[c]);
    std::vector<CoreIndices> groups;
    const std::vector<uint32_t> units = unit_indices(member_localities, unit);
    for (size_t i = 0; i < members.size(); ++i) {
        if (units[i] >= groups.size()) groups.resize(units[i] + 1);
        groups[units[i]].push_back(members[i]);
    }
    return groups;
}

CoreIndices all_core_indices(const HostCores& cores) {
    CoreIndices all(cores.size());
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

uint32_t count_units(const HostCores& cores, Unit unit) {
    if (unit == Unit::hwthread) return static_cast<uint32_t>(all_cpus(cores).size());
    const std::vector<uint32_t> units = unit_indices(cores.localities, unit);
    return units.empty() ? 1 : 1 + *std::max_element(units.begin(), units.end());
}

const char* unit_name(Unit unit) {
    for (const UnitName& u : unit_names)
        if (u.unit == unit) return u.names[0];
    return "automatic";
}

bool parse_unit(std::string_view text, Unit& unit) {
    for (const UnitName& u : unit_names)
        for (const char* known : u.names)
            if (known != nullptr && text == known) {
                unit = u.unit;
                return true;
            }
    return false;
}

bool parse_cpu_list(std::string_view text, CpuList& out) {
    out.clear();
    const bool good = for_each_part(text, ',', [&](std::string_view part) {
        const size_t dash = part.find('-');
        int low = 0;
        int high = 0;
        if (!parse_number(part.substr(0, dash), low)) return false;
        high = low;
        if (dash != std::string_view::npos && (!parse_number(part.substr(dash + 1), high) || high < low))
            return false;
        for (; low <= high; ++low) out.push_back(low);
        return true;
    });
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return good;
}

std::vector<CpuRun> cpu_runs(const CpuList& sorted) {
    std::vector<CpuRun> runs;
    for (const int cpu : sorted) {
        if (!runs.empty() && runs.back().first + static_cast<int>(runs.back().count) == cpu)
            ++runs.back().count;
        else
            runs.push_back({cpu, 1});
    }
    return runs;
}

std::string cpu_text(const CpuList& sorted) {
    std::string text;
    for (const CpuRun& run : cpu_runs(sorted)) {
        text += (text.empty() ? "" : ",") + std::to_string(run.first);
        if (run.count > 1) text += "-" + std::to_string(run.first + static_cast<int>(run.count) - 1);
    }
    return text;
}

bool parse_slots(std::string_view text, const HostCores& cores, CoreIndices& out, std::string& wrong) {
    out.clear();
    const std::vector<uint32_t> sockets = unit_indices(cores.localities, Unit::socket);
    const bool good = for_each_part(text, ';', [&](std::string_view part) {
        wrong = std::string(part);
        CoreIndices members;
        const size_t colon = part.find(':');
        int socket = -1;
        if (colon != std::string_view::npos && !parse_number(part.substr(0, colon), socket)) return false;
        for (uint32_t c = 0; c < cores.size(); ++c)
            if (socket < 0 || sockets[c] == static_cast<uint32_t>(socket)) members.push_back(c);
        const std::string_view list = colon == std::string_view::npos ? part : part.substr(colon + 1);
        CpuList numbers;
        if (list == "*")
            for (size_t i = 0; i < members.size(); ++i) numbers.push_back(static_cast<int>(i));
        else if (!parse_cpu_list(list, numbers))
            return false;
        for (const int n : numbers) {
            if (static_cast<size_t>(n) >= members.size()) return false;
            out.push_back(members[static_cast<size_t>(n)]);
        }
        return !numbers.empty();
    });
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return good;
}

} // namespace zipmpi::launch
