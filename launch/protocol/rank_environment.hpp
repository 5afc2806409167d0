// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The environment that ranks inherit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

// Variables by which an outer launcher describes a rank. Ranks of this job must not inherit them.
bool is_launcher_variable(std::string_view name);

// All "NAME=value" entries except those of launchers.
std::vector<std::string> remove_launcher_variables(const char* const* environ_like);

// base with its entries replaced by `changes`; new names are appended.
std::vector<std::string> merge_env(const std::vector<std::string>& base,
                                   const std::vector<std::string>& changes);

// Puts a folder first in a variable with a list of folders.
void prepend_to_path(std::vector<std::string>& env, const std::string& name, const std::string& folder);

} // namespace zipmpi::launch
