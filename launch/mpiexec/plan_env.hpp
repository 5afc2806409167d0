// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which variables the ranks get.
#pragma once

#include "launch/mpiexec/options.hpp"

namespace zipmpi::launch {

// Fills base_env and the env of each app.
void plan_environment(const Options& options, const char* const* environ_like, StartRequest& request);

} // namespace zipmpi::launch
