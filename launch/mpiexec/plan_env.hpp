// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Variables of the ranks.
#pragma once

#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/plan_mpi.hpp"

namespace zipmpi::launch {

// Fills base_env and the env of each program.
void plan_environment(const Options& options, const char* const* environ_like, StartRequest& request);
// In jobs that use other hosts: removes variables that are not forwarded (forwarded_environment.hpp) and not
// named by options. A remark names them.
void withhold_environment(const Options& options, StartRequest& request, Remarks& remarks);

} // namespace zipmpi::launch
