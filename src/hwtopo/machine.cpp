// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "hwtopo/machine.hpp"

#include <algorithm>
#include <cctype>

namespace zipmpi::hwtopo {
namespace {

struct LevelName {
    Level level;
    const char* name;
    const char* alias;         // alternative name
    uint16_t Locality::*index; // null for the whole machine
};

constexpr LevelName level_names[] = {
    {Level::machine, "machine", "node", nullptr},
    {Level::package, "package", "socket", &Locality::package},
    {Level::numa, "numanode", "numa", &Locality::numa},
    {Level::l3, "l3cache", nullptr, &Locality::l3},
    {Level::l2, "l2cache", nullptr, &Locality::l2},
    {Level::core, "core", nullptr, &Locality::core},
    {Level::cpu, "pu", "hwthread", &Locality::cpu},
};

constexpr const LevelName& entry(Level level) { return level_names[static_cast<size_t>(level)]; }

bool same(uint16_t a, uint16_t b) { return a == b && a != spans_several; }

} // namespace

Locality locality_of(const Machine& machine, const std::vector<int>& cpus) {
    Locality all{spans_several, spans_several, spans_several, spans_several, spans_several, spans_several};
    bool first = true;
    for (const CpuLocality& c : machine.cpus) {
        if (std::find(cpus.begin(), cpus.end(), c.cpu) == cpus.end()) continue;
        if (first) all = c.locality;
        first = false;
        for (const LevelName& l : level_names)
            if (l.index != nullptr && all.*l.index != c.locality.*l.index) all.*l.index = spans_several;
    }
    return all;
}

PairClass pair_class(const Locality& a, const Locality& b) {
    if (same(a.core, b.core)) {
        // Two hardware threads of a core run at the same time, unless one of the ranks may move to the other.
        const bool distinct_threads = a.cpu != spans_several && b.cpu != spans_several && a.cpu != b.cpu;
        return distinct_threads ? PairClass::shared_l2 : PairClass::same_core;
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

bool parse_level(std::string_view text, Level& level) {
    constexpr std::string_view scheme = "hwloc://";
    if (text.starts_with(scheme)) text.remove_prefix(scheme.size());
    const auto equal = [&](const char* candidate) {
        return std::equal(text.begin(), text.end(), candidate, candidate + std::string_view(candidate).size(),
                          [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
    };
    for (const LevelName& l : level_names)
        if (equal(l.name) || (l.alias != nullptr && equal(l.alias))) {
            level = l.level;
            return true;
        }
    return false;
}

uint16_t index_at(const Locality& locality, Level level) {
    const auto index = entry(level).index;
    return index == nullptr ? 0 : locality.*index;
}

} // namespace zipmpi::hwtopo
