// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The options of options.toml as a table.
#pragma once

#include "base/problem.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

struct AppOptions;
struct OptionRow;
struct Options;

// One option as it was written, or as a variable stands for it.
struct Use {
    const OptionRow* row = nullptr;
    std::string written;            // "-npernode", "HYDRA_IFACE"
    std::vector<std::string> words; // its values
    std::string where;              // "command line of mpiexec"

    [[nodiscard]] std::string value() const; // the words, or what the table has in their place
};

// What actions fill: the job, and the program that is being read.
struct Draft {
    Options& job;
    AppOptions& app;
};

// False: why says what is wrong.
using Action = bool (*)(const Use& use, Draft& draft, Problem& why);

enum class Words : uint8_t {
    none,
    one,
    two,
    attached, // one, only behind '='; may be left out
    pair,     // NAME=VALUE, or NAME VALUE
    ranks     // one, if it is a list of ranks, all or none
};

struct OptionRow {
    const char* names; // as they are written, separated by blanks
    const char* args;
    const char* from; // letters of options.toml
    const char* help;
    const char* use;   // of refused options
    const char* value; // nullptr: the words
    Words words;
    uint8_t group;
    Action action;
};

enum class AliasKind : uint8_t { display, output, runtime, parameter, variable };

// A word of a list, a parameter or a variable that stands for an option.
struct AliasRow {
    AliasKind kind;
    const char* name;
    const char* option; // gets the value
    const char* yes;    // if the value is true
    const char* no;     // if it is false
};

std::span<const OptionRow> option_rows();
std::span<const AliasRow> alias_rows();
const char* group_title(uint8_t group);

// Dashes at its beginning do not count. nullptr: there is none.
const OptionRow* find_option(std::string_view name);
const AliasRow* find_alias(AliasKind kind, std::string_view name);
// The option whose name is most like this one; empty: none is.
std::string nearest_option(std::string_view name);

// The names of a row one by one.
std::vector<std::string_view> names_of(const OptionRow& row);

// "1", "yes", "true", "on", "all", "enable" and so on: 1; the opposite: 0; else -1.
int truth(std::string_view text);

} // namespace zipmpi::launch
