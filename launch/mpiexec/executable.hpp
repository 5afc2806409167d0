// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The program that a command line names: search.
#pragma once

#include "base/diagnostic.hpp"

#include <string>

namespace zipmpi::launch {

bool is_executable(const std::string& path);

// Finds a program as a shell does: through PATH if the name has no '/'. search: directories before PATH.
// directory: working directory, to which names with a '/' are relative. Returns false, sets `why`, and sets
// exit_code to 127 (not found) or 126 (not executable).
struct ProgramSearch {
    std::string search, directory;
};
bool find_program(const std::string& name, const ProgramSearch& from, std::string& path, Diagnostic& why,
                  int& exit_code);

} // namespace zipmpi::launch
