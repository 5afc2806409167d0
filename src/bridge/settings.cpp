// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/settings.hpp"

#include "base/param.hpp"

namespace zipmpi::bridge {
namespace {

// Used by the launcher; declared here so that ranks do not report it as unknown.
Param<std::string> gateway_path{
    "gateway.program", "",
    nullptr,           Level::tuner,
    Scope::job_wide,   "path of zipmpi-gateway on gateway hosts; empty: next to mpiexec"};
Param<int64_t> partition_timeout{"gateway.partition_timeout",
                                 30,
                                 {0, 86400},
                                 Unit::seconds,
                                 Level::user,
                                 Scope::job_wide,
                                 "seconds a job survives without any path between two of its clusters"};

} // namespace

std::string gateway_program() { return gateway_path.get(); }
int partition_timeout_seconds() { return static_cast<int>(partition_timeout.get()); }

} // namespace zipmpi::bridge
