// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// From options to the start request: programs, variables, hosts, and which ranks go where.
#pragma once

#include "launch/mpiexec/options.hpp"

namespace zipmpi::launch {

// False: why says what is wrong, and exit_code is the status of mpiexec.
bool plan_job(const Options& options, const char* const* environ_like, StartRequest& request, Problem& why,
              int& exit_code);

// What --dry-run prints: a line for each fact that is not the default.
std::string plan_text(const Options& options, const StartRequest& request);

// The command that starts another on a host, as one line.
std::string agent_of(const Options& options);

} // namespace zipmpi::launch
