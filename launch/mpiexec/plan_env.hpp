// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Variables of the ranks.
#pragma once

#include "launch/mpiexec/options.hpp"

namespace zipmpi::launch {

// Fills base_env and the env of each program.
void plan_environment(const Options& options, const char* const* environ_like, StartRequest& request);

} // namespace zipmpi::launch
