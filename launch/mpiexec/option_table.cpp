// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/option_table.hpp"

#include "launch/mpiexec/actions.hpp"

#include "base/edit_distance.hpp"

#include <algorithm>

namespace zipmpi::launch {
namespace {

#include "option_table.inc"

std::string_view without_dashes(std::string_view name) {
    for (int i = 0; i < 2 && !name.empty() && name[0] == '-'; ++i) name.remove_prefix(1);
    return name;
}

} // namespace

std::span<const OptionRow> option_rows() { return rows; }
std::span<const AliasRow> alias_rows() { return aliases; }
const char* group_title(uint8_t group) { return group_titles[group]; }

std::vector<std::string_view> names_of(const OptionRow& row) {
    std::vector<std::string_view> names;
    for (std::string_view rest = row.names; !rest.empty();) {
        const size_t end = std::min(rest.find(' '), rest.size());
        names.push_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return names;
}

const OptionRow* find_option(std::string_view name) {
    name = without_dashes(name);
    for (const OptionRow& row : rows)
        for (const std::string_view known : names_of(row))
            if (without_dashes(known) == name) return &row;
    return nullptr;
}

const AliasRow* find_alias(AliasKind kind, std::string_view name) {
    const auto same = [&](const AliasRow& a) { return a.kind == kind && a.name == name; };
    const auto found = std::find_if(std::begin(aliases), std::end(aliases), same);
    return found == std::end(aliases) ? nullptr : found;
}

std::string closest_option(std::string_view name) {
    name = without_dashes(name);
    size_t best = 3;
    std::string_view closest;
    for (const OptionRow& row : rows)
        for (const std::string_view known : names_of(row)) {
            const size_t d = edit_distance(name, without_dashes(known));
            if (d >= best || known.size() < 3 || *row.from == '\0') continue;
            best = d;
            closest = known;
        }
    return std::string(closest);
}

std::string Use::value() const {
    std::string all;
    for (const std::string& w : words) all += (all.empty() ? "" : " ") + w;
    if (row->value == nullptr) return all;
    std::string text = row->value;
    if (const size_t hole = text.find("{}"); hole != std::string::npos) text.replace(hole, 2, all);
    return text;
}

int parse_truth(std::string_view text) {
    for (const std::string_view yes : {"1", "yes", "true", "on", "all", "enable", "t", "y"})
        if (text == yes) return 1;
    for (const std::string_view no : {"0", "no", "false", "off", "none", "disable", "f", "n"})
        if (text == no) return 0;
    return -1;
}

} // namespace zipmpi::launch
