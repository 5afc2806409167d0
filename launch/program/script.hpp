// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The interpreter of a script.
#pragma once

#include <string>

namespace zipmpi::launch {

struct Interpreter {
    enum class Kind { none, found, missing } kind = Kind::none; // none: the file is not a script
    std::string name;                                           // as the first line has it
    std::string path;
};

// Reads the line "#! INTERPRETER"; for "env NAME" the name is searched in search_path, the value of PATH.
Interpreter read_interpreter(const std::string& path, const std::string& search_path);

// Home folder of R, if the program is R or Rscript; otherwise empty.
std::string home_of_r(const std::string& program);

} // namespace zipmpi::launch
