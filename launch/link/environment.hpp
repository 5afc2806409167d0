// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The environment that ranks inherit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

// Variables by which an outer launcher tells its ranks who they are. Ours must not believe them.
bool belongs_to_a_launcher(std::string_view name);

// All of "NAME=value" except those of launchers.
std::vector<std::string> without_launchers(const char* const* environ_like);

// base with the entries of changes in place of entries of the same name, or at the end.
std::vector<std::string> merge_env(const std::vector<std::string>& base,
                                   const std::vector<std::string>& changes);

} // namespace zipmpi::launch
