// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "info.hpp"

#include "base/param.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

const char* text(Unit u) {
    switch (u) {
    case Unit::none:
        return "number";
    case Unit::bytes:
        return "bytes";
    case Unit::microseconds:
        return "microseconds";
    case Unit::seconds:
        return "seconds";
    case Unit::boolean:
        return "yes or no";
    case Unit::word:
        return "word";
    }
    return "";
}

const char* text(Level l) {
    switch (l) {
    case Level::user:
        return "user";
    case Level::tuner:
        return "tuner";
    case Level::developer:
        return "developer";
    }
    return "";
}

const char* text(Origin o) {
    switch (o) {
    case Origin::built_in:
        return "built in";
    case Origin::file:
        return "file";
    case Origin::environment:
        return "environment";
    case Origin::tool:
        return "tool";
    }
    return "";
}

// An empty word is a value too, and must not look like a missing column.
std::string field(const Json& object, const char* key) {
    const auto value = object.at(key).get<std::string>();
    return value.empty() ? "(empty)" : value;
}

} // namespace

Json knob_facts() {
    Json list = Json::array();
    for (const ParamBase* p : all_params())
        list.push_back({{"name", p->name()},
                        {"value", p->value_text()},
                        {"origin", text(p->origin())},
                        {"default", p->default_text()},
                        {"unit", text(p->unit())},
                        {"level", text(p->level())},
                        {"scope", p->scope() == Scope::all_equal ? "equal on all ranks" : "local"},
                        {"variable", p->env_name()},
                        {"help", p->help()}});
    return list;
}

std::string knobs_text(const Json& knobs) {
    constexpr const char* columns[] = {"name", "value", "origin", "default", "unit", "level"};
    size_t width[std::size(columns)];
    for (size_t c = 0; c < std::size(columns); ++c) {
        width[c] = std::string_view(columns[c]).size();
        for (const Json& k : knobs) width[c] = std::max(width[c], field(k, columns[c]).size());
    }
    std::string out;
    for (size_t c = 0; c < std::size(columns); ++c) out += fmt::format("{:<{}}  ", columns[c], width[c]);
    out += "help\n";
    for (const Json& k : knobs) {
        for (size_t c = 0; c < std::size(columns); ++c)
            out += fmt::format("{:<{}}  ", field(k, columns[c]), width[c]);
        out += field(k, "help") + "\n";
    }
    return out +
           "\nSet a knob with its variable (shm.cells is ZIPMPI_SHM_CELLS), or with a line name = value in "
           "the file that ZIPMPI_CONFIG names.\n";
}

std::string knobs_markdown(const Json& knobs) {
    std::string out =
        "# Knobs\n\n"
        "Made by `cmake --build build/release --target update-knobs-page`; do not edit by hand.\n\n"
        "A knob takes its value from the environment, else from the file that `ZIPMPI_CONFIG` names (lines "
        "of\n"
        "`name = value`, `#` starts a comment), else it has its default. `zipmpi info --knobs` shows the "
        "value\n"
        "that holds and where it came from. A name that does not exist is reported with the nearest one that "
        "does.\n\n"
        "| knob | variable | default | unit | level | scope | what it does "
        "|\n|---|---|---|---|---|---|---|\n";
    for (const Json& k : knobs)
        out += fmt::format("| `{}` | `{}` | {} | {} | {} | {} | {} |\n", field(k, "name"),
                           field(k, "variable"), field(k, "default"), field(k, "unit"), field(k, "level"),
                           field(k, "scope"), field(k, "help"));
    return out +
           "\nLevels: *user* knobs are for everybody, *tuner* knobs for measuring on a machine, *developer* "
           "knobs for\nfinding faults in the library. A knob that must be *equal on all ranks* is best set "
           "by "
           "`mpiexec --env`.\n";
}

} // namespace zipmpi::tool
