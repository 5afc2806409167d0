// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The usable cores of this host, from its topology if available, otherwise one core per allowed CPU.
#pragma once

#include "launch/placement/hardware_units.hpp"

namespace zipmpi::launch {

CpuList allowed_cpus();

// machine: without CPUs if the topology is not available.
HostCores allowed_cores(const hwtopo::Machine& machine);

// Number of such units on this host, for --map-by ppr:N:UNIT.
uint32_t count_local_units(Unit unit);

std::string boot_id(); // of the kernel: equal in all containers of a machine

} // namespace zipmpi::launch
