// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The file that a command line names.
#pragma once

#include "base/problem.hpp"

#include <string>

namespace zipmpi::launch {

// Finds a program as a shell would: through PATH if the name has no '/'. search: directories that go before
// PATH. directory: where it will run; names with a '/' inside are meant from there. False: why says what is
// missing, and exit_code is 127 (not found) or 126 (not executable).
struct ProgramPlace {
    std::string search, directory;
};
bool find_program(const std::string& name, const ProgramPlace& from, std::string& path, Problem& why,
                  int& exit_code);

// Is this an ELF file that is linked with an MPI whose launch protocol needs no PMIx (ours, or MPICH's)?
// Scripts, interpreters and programs that load MPI later may need it: the answer for them is false.
bool surely_needs_no_pmix(const std::string& path);

} // namespace zipmpi::launch
