// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "topo/place.hpp"

#include <algorithm>
#include <cctype>

namespace zipmpi::topo {
namespace {

struct LevelName {
    Level level;
    const char* name;
    const char* alias;      // in common use elsewhere
    uint16_t Place::*index; // null for the machine: there is one
};

constexpr LevelName level_names[] = {
    {Level::machine, "machine", "node", nullptr},    {Level::package, "package", "socket", &Place::package},
    {Level::numa, "numanode", "numa", &Place::numa}, {Level::l3, "l3cache", nullptr, &Place::l3},
    {Level::l2, "l2cache", nullptr, &Place::l2},     {Level::core, "core", nullptr, &Place::core},
    {Level::cpu, "pu", "hwthread", &Place::cpu},
};

constexpr const LevelName& entry(Level level) { return level_names[static_cast<size_t>(level)]; }

bool same(uint16_t a, uint16_t b) { return a == b && a != several; }

} // namespace

Place place_of(const Machine& machine, const std::vector<int>& cpus) {
    Place all{several, several, several, several, several, several};
    bool first = true;
    for (const CpuPlace& c : machine.cpus) {
        if (std::find(cpus.begin(), cpus.end(), c.cpu) == cpus.end()) continue;
        if (first) all = c.place;
        first = false;
        for (const LevelName& l : level_names)
            if (l.index != nullptr && all.*l.index != c.place.*l.index) all.*l.index = several;
    }
    return all;
}

PairClass pair_class(const Place& a, const Place& b) {
    if (same(a.core, b.core)) {
        // Two hardware threads of a core run at the same time, unless one of the ranks may move to the other.
        const bool apart = a.cpu != several && b.cpu != several && a.cpu != b.cpu;
        return apart ? PairClass::shared_l2 : PairClass::same_core;
    }
    if (same(a.l2, b.l2)) return PairClass::shared_l2;
    if (same(a.l3, b.l3)) return PairClass::shared_l3;
    return same(a.numa, b.numa) ? PairClass::same_numa : PairClass::other_numa;
}

uint64_t shared_cache_bytes(const Machine& machine, PairClass pair) {
    switch (pair) {
    case PairClass::same_core:
    case PairClass::shared_l2:
        return machine.l2_bytes != 0 ? machine.l2_bytes : machine.l3_bytes;
    case PairClass::shared_l3:
        return machine.l3_bytes;
    case PairClass::same_numa:
    case PairClass::other_numa:
        return 0;
    }
    return 0;
}

const char* name(Level level) { return entry(level).name; }

bool level_named(std::string_view text, Level& level) {
    constexpr std::string_view scheme = "hwloc://";
    if (text.starts_with(scheme)) text.remove_prefix(scheme.size());
    const auto equal = [&](const char* known) {
        return std::equal(text.begin(), text.end(), known, known + std::string_view(known).size(),
                          [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
    };
    for (const LevelName& l : level_names)
        if (equal(l.name) || (l.alias != nullptr && equal(l.alias))) {
            level = l.level;
            return true;
        }
    return false;
}

uint16_t index_at(const Place& place, Level level) {
    const auto index = entry(level).index;
    return index == nullptr ? 0 : place.*index;
}

} // namespace zipmpi::topo
