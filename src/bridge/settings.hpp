// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Parameters of multi-cluster jobs that the library, mpiexec and the gateways share.
#pragma once

#include <string>

namespace zipmpi::bridge {

std::string gateway_program(); // empty: next to mpiexec
int partition_timeout_seconds();

} // namespace zipmpi::bridge
