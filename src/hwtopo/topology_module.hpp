// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Interface of the module zipmpi_topology.so, the only user of hwloc. Loading and running hwloc costs
// milliseconds and megabytes: mpiexec does it when it binds ranks, a rank only if no other process of the
// node has done it.
#pragma once

#include "hwtopo/machine.hpp"

namespace zipmpi::hwtopo {

// The only function of the module; its name changes with this interface. synthetic: null for this machine,
// else a synthetic description of hwloc. Calls `add` for every CPU. Returns false if there is no topology.
using DescribeMachine = bool (*)(const char* synthetic, void (*add)(void* arg, const CpuLocality& cpu),
                                 void* arg, uint64_t& l2_bytes, uint64_t& l3_bytes);
inline constexpr const char* describe_symbol = "zipmpi_describe_machine_1";
inline constexpr const char* module_file = "zipmpi_topology.so";

// Reads the topology; the module is loaded only during the call. Returns false if the module, hwloc or the
// topology is not available.
bool read_machine(Machine& machine, const char* synthetic = nullptr);

} // namespace zipmpi::hwtopo
