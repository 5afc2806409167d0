// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Actions of the options: the functions that options.toml names, declared from it, and their helpers.
#pragma once

#include "launch/mpiexec/option_table.hpp"

namespace zipmpi::launch {

namespace act {
#include "option_actions.inc"
} // namespace act

// Sets `why` to a message about the value of this option; always returns false.
bool bad_value(const Use& use, const std::string& reason, const std::string& fix, Diagnostic& why);

// The value as an integer, or as a number of seconds.
bool parse_whole_number(const Use& use, long least, long most, long& out, Diagnostic& why);
bool parse_seconds(const Use& use, double& out, Diagnostic& why);

// Applies another option ("--bind-to none", or one that takes the value) on behalf of `like`, whose spelling
// appears in messages.
bool apply_option(const std::string& text, const std::string* value, const Use& like, Draft& draft,
                  Diagnostic& why);
// Applies the option that an alias maps to for this value.
bool apply_alias(const AliasRow& alias, const std::string& value, const Use& like, Draft& draft,
                 Diagnostic& why);

// "a,b,,c" -> a b c
std::vector<std::string> split(std::string_view text, char separator);
std::string lower_case(std::string_view text);

// "0-3,7", "all", "none".
bool is_rank_list(std::string_view text);

} // namespace zipmpi::launch
