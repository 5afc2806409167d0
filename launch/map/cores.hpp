// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cores of this host that we may use, from its topology if that can be had, else one core per allowed
// CPU.
#pragma once

#include "launch/map/units.hpp"

namespace zipmpi::launch {

CpuList allowed_cpus();

// machine: without CPUs if its topology is not known.
HostCores allowed_cores(const topo::Machine& machine);

// How many of these this host has, for ranks that are counted by them (--map-by ppr:N:UNIT).
uint32_t units_here(Unit unit);

std::string boot_id(); // of the kernel: the same in all containers of a machine

} // namespace zipmpi::launch
