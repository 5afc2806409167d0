// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Settings of other launchers in the environment of mpiexec.
#pragma once

#include "launch/mpiexec/options.hpp"

namespace zipmpi::launch {

// Variables of options.toml, and parameters of Open MPI as OMPI_MCA_NAME and PRTE_MCA_NAME. The latter do not
// count in a rank that a launcher has started: there they are the settings of the job around.
bool apply_environment(const char* const* environ_like, Options& out, Problem& why);

} // namespace zipmpi::launch
