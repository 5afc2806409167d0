// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Table of the options in options.toml.
#pragma once

#include "base/diagnostic.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

struct AppOptions;
struct OptionRow;
struct Options;

// One use of an option, as written or as set by a variable.
struct Use {
    const OptionRow* row = nullptr;
    std::string written;            // "-npernode", "HYDRA_IFACE"
    std::vector<std::string> words; // values
    std::string where;              // "command line of mpiexec"

    [[nodiscard]] std::string value() const; // the words, or the fixed value of the table
};

// Target of the actions: the job and the program being parsed.
struct Draft {
    Options& job;
    AppOptions& app;
};

// Returns false and sets `why` on error.
using Action = bool (*)(const Use& use, Draft& draft, Diagnostic& why);

enum class Words : uint8_t {
    none,
    one,
    two,
    attached, // one, only after '='; optional
    pair,     // NAME=VALUE or NAME VALUE
    ranks     // one, if it is a list of ranks, all or none
};

struct OptionRow {
    const char* names; // as written, separated by blanks
    const char* args;
    const char* from; // letters of options.toml
    const char* help;
    const char* use;   // alternative for a refused option
    const char* value; // nullptr: the words
    Words words;
    uint8_t group;
    Action action;
};

enum class AliasKind : uint8_t { display, output, runtime, parameter, variable };

// A directive, parameter or variable that maps to an option.
struct AliasRow {
    AliasKind kind;
    const char* name;
    const char* option; // receives the value
    const char* yes;    // for a true value
    const char* no;     // for a false value
};

std::span<const OptionRow> option_rows();
std::span<const AliasRow> alias_rows();
const char* group_title(uint8_t group);

// Leading dashes are ignored. Returns nullptr if there is no such option.
const OptionRow* find_option(std::string_view name);
const AliasRow* find_alias(AliasKind kind, std::string_view name);
// The most similar option name; empty if none is similar.
std::string closest_option(std::string_view name);

// The names of a row.
std::vector<std::string_view> names_of(const OptionRow& row);

// 1 for "1", "yes", "true", "on", "all", "enable", "t", "y"; 0 for their opposites; otherwise -1.
int parse_truth(std::string_view text);

} // namespace zipmpi::launch
