// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs of an mpiexec on this host, with their ranks on all hosts: mpiexec asks its daemons
// (launch/mpiexec/view_server.hpp).
#pragma once

#include "top/job_source.hpp"
#include "top/top.hpp"

#include <memory>

namespace zipmpi::tool {

// Jobs of this user that match the options.
std::vector<std::unique_ptr<JobSource>> find_remote_jobs(const TopOptions& options);

} // namespace zipmpi::tool
