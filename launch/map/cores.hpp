// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cores of this host that we may use, from hwloc if its module can be loaded, else one core per allowed
// CPU.
#pragma once

#include "launch/map/placement.hpp"

#include <cstdint>

namespace zipmpi::launch {

// What the hwloc module exports as zipmpi_list_cores: calls add(arg, core, cpu) for each allowed hardware
// thread, cores numbered from 0 in the order in which they lie. False: no topology to be had.
using ListCores = bool (*)(void (*add)(void* arg, uint32_t core, int cpu), void* arg);

std::vector<CpuList> allowed_cores();

} // namespace zipmpi::launch
