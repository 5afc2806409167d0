// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/tool/tool.hpp"

#include <algorithm>
#include <iterator>

namespace zipmpi::core::tool {
namespace {

struct Known {
    std::string_view name;
    const char* help;
};
constexpr Known known[] = {
    {"boot", "how a rank finds its launcher and its peers"},
    {"bridge", "messages between clusters that share no network"},
    {"coll", "collective operations"},
    {"counter", "what this rank has done, counted"},
    {"kcopy", "messages copied by the kernel"},
    {"matrix", "who sends how much to whom"},
    {"net", "messages between hosts"},
    {"p2p", "point-to-point messages"},
    {"rma", "one-sided communication"},
    {"shm", "messages within a host"},
    {"tune", "measured costs"},
    {"wait", "how a rank waits"},
};

std::string help_of(std::string_view name) {
    for (const Known& k : known)
        if (k.name == name) return k.help;
    return "variables whose names begin with " + std::string(name);
}

struct Categories {
    std::vector<Category> list;
    int seen_cvars = 0;
    int changes = 0;

    Category& of(std::string_view variable) {
        const std::string_view name = variable.substr(0, variable.find('.'));
        const auto found =
            std::find_if(list.begin(), list.end(), [&](const Category& c) { return c.name == name; });
        if (found != list.end()) return *found;
        list.push_back({std::string(name), help_of(name), {}, {}});
        return list.back();
    }
};

Categories& up_to_date() {
    static auto* const all = new Categories;
    Variable variable;
    if (all->list.empty()) {
        PvarMarks marks;
        for (int i = 0; pvar_info(i, variable, marks); ++i) all->of(variable.name).pvars.push_back(i);
    }
    const int before = all->seen_cvars;
    CvarScope scope{};
    for (; cvar_info(all->seen_cvars, variable, scope); ++all->seen_cvars)
        all->of(variable.name).cvars.push_back(all->seen_cvars);
    if (all->seen_cvars != before) ++all->changes;
    return *all;
}

} // namespace

const std::vector<Category>& categories() { return up_to_date().list; }
int category_changes() { return up_to_date().changes; }

} // namespace zipmpi::core::tool
