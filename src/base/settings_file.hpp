// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Files of lines `name = value`; # starts a comment line, a value may stand in double quotes. Knobs and
// measured costs are kept in such files. What is read here is also valid TOML if names and values are.
#pragma once

#include <string>
#include <vector>

namespace zipmpi {

struct Setting {
    int line = 0;
    std::string name; // empty: the line is not of the form name = value
    std::string value;
};

// False and errno if the file cannot be opened.
bool read_settings(const char* path, std::vector<Setting>& out);

} // namespace zipmpi
