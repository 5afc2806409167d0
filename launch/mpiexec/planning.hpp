// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Turns options into a start request: programs, variables, hosts and the placement of ranks on hosts.
#pragma once

#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/plan_mpi.hpp"

namespace zipmpi::launch {

// Returns false, sets `why`, and sets exit_code to the status of mpiexec.
bool plan_job(const Options& options, const char* const* environ_like, StartRequest& request,
              Remarks& remarks, Diagnostic& why, int& exit_code);

// Text of --dry-run: one line for each setting that is not the default.
std::string plan_text(const Options& options, const StartRequest& request);

// The launch agent of a job on other hosts, as one command line. Empty: ssh, or this host only.
std::string agent_text(const StartRequest& request);

} // namespace zipmpi::launch
