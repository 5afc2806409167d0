// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reader for files of `name = value` lines; # starts a comment line, values may be in double quotes. Used for
// parameters and measured costs. The format is a subset of TOML if names and values are valid TOML.
#pragma once

#include <string>
#include <vector>

namespace zipmpi {

struct Setting {
    int line = 0;
    std::string name; // empty: the line is not of the form name = value
    std::string value;
};

// Returns false with errno if the file cannot be opened.
bool read_settings(const char* path, std::vector<Setting>& out);

} // namespace zipmpi
