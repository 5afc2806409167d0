// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI libraries of programs that were built for other MPIs.
#pragma once

#include "launch/mpiexec/options.hpp"

namespace zipmpi::launch {

struct Remarks {
    std::vector<std::string> notes;   // for -v
    std::vector<Diagnostic> warnings; // the job starts, but not as the user may expect
};

// Adds the variables that make ranks load ZipMPI's libraries, and decides on PMIx. programs: files of the
// apps.
bool plan_mpi(const Options& options, const std::vector<std::string>& programs, StartRequest& request,
              Remarks& remarks, Diagnostic& why, int& exit_code);

} // namespace zipmpi::launch
