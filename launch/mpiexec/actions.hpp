// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the options do: the functions that options.toml names, declared from it, and what they share.
#pragma once

#include "launch/mpiexec/option_table.hpp"

namespace zipmpi::launch {

namespace act {
#include "option_actions.inc"
} // namespace act

// Sets why to a message about the value of this option; always false.
bool bad_value(const Use& use, const std::string& reason, const std::string& todo, Problem& why);

// The value as a whole number, or a number of seconds.
bool whole_number(const Use& use, long least, long most, long& out, Problem& why);
bool seconds(const Use& use, double& out, Problem& why);

// Applies an option, "--bind-to none" or one that gets the value at its end, in the place of another. like:
// says how it was written.
bool apply_option(const std::string& text, const std::string* value, const Use& like, Draft& draft,
                  Problem& why);
// The same by an alias: as its value demands.
bool apply_alias(const AliasRow& alias, const std::string& value, const Use& like, Draft& draft,
                 Problem& why);

// "a,b,,c" -> a b c
std::vector<std::string> split(std::string_view text, char separator);
std::string lower_case(std::string_view text);

// "0-3,7", "all", "none".
bool is_rank_list(std::string_view text);

} // namespace zipmpi::launch
