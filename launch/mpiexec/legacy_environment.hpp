// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Settings of other launchers in the environment of mpiexec.
#pragma once

#include "launch/mpiexec/options.hpp"

namespace zipmpi::launch {

// Reads the variables of options.toml, and parameters of Open MPI as OMPI_MCA_NAME and PRTE_MCA_NAME. Inside
// a rank the latter are ignored: there they belong to the enclosing job.
bool apply_environment(const char* const* environ_like, Options& out, Diagnostic& why);

} // namespace zipmpi::launch
