// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/api/tool.hpp"

#include <algorithm>
#include <iterator>

namespace zipmpi::core::tool {
namespace {

struct CategoryText {
    std::string_view name;
    const char* help;
};
constexpr CategoryText category_texts[] = {
    {"cma", "single-copy messages (CMA)"},
    {"coll", "collective operations"},
    {"counter", "event counters of this rank"},
    {"dpm", "dynamic process management"},
    {"fault", "failed ranks"},
    {"gateway", "messages between clusters without a common network"},
    {"initial", "initial error handler"},
    {"install", "installation directories"},
    {"launch", "launcher and startup"},
    {"matrix", "communication matrix"},
    {"memory", "memory allocation kinds"},
    {"net", "messages between hosts"},
    {"p2p", "point-to-point messages"},
    {"rma", "one-sided communication"},
    {"shm", "messages within a host"},
    {"size", "messages by size, if matrix.sizes is set"},
    {"tune", "measured costs"},
    {"wait", "blocking waits"},
};

std::string help_of(std::string_view name) {
    for (const CategoryText& k : category_texts)
        if (k.name == name) return k.help;
    return "variables whose names begin with " + std::string(name);
}

struct Categories {
    std::vector<Category> list;
    int seen_cvars = 0;
    int changes = 0;

    Category& find_or_add(std::string_view variable) {
        const std::string_view name = variable.substr(0, variable.find('.'));
        const auto found =
            std::find_if(list.begin(), list.end(), [&](const Category& c) { return c.name == name; });
        if (found != list.end()) return *found;
        list.push_back({std::string(name), help_of(name), {}, {}, {}});
        return list.back();
    }
};

Categories& current_categories() {
    static auto* const all = new Categories;
    Variable variable;
    if (all->list.empty()) {
        PvarFlags flags;
        for (int i = 0; pvar_info(i, variable, flags); ++i)
            all->find_or_add(variable.name).pvars.push_back(i);
        int elements = 0;
        for (int i = 0; event_info(i, variable, elements); ++i)
            all->find_or_add(variable.name).events.push_back(i);
    }
    const int before = all->seen_cvars;
    CvarScope scope{};
    for (; cvar_info(all->seen_cvars, variable, scope); ++all->seen_cvars)
        all->find_or_add(variable.name).cvars.push_back(all->seen_cvars);
    if (all->seen_cvars != before) ++all->changes;
    return *all;
}

} // namespace

const std::vector<Category>& categories() { return current_categories().list; }
int category_changes() { return current_categories().changes; }

} // namespace zipmpi::core::tool
