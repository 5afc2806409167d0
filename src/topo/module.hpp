// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The border to the module zipmpi_topology.so, which is all that knows hwloc. Loading hwloc and asking it
// costs milliseconds and megabytes: mpiexec does it when it binds ranks, a rank only if nobody else has.
#pragma once

#include "topo/place.hpp"

namespace zipmpi::topo {

// The one function of the module; its name changes when this border changes. synthetic: null for this
// machine, else hwloc's description of a made-up one. Fills all but Machine::cpus, which `add` is called for.
// False: no topology to be had.
using DescribeMachine = bool (*)(const char* synthetic, void (*add)(void* arg, const CpuPlace& cpu),
                                 void* arg, uint64_t& l2_bytes, uint64_t& l3_bytes);
inline constexpr const char* describe_symbol = "zipmpi_describe_machine_1";
inline constexpr const char* module_file = "zipmpi_topology.so";

// Loads the module for as long as it takes. False: no module, no hwloc, or it knows nothing.
bool read_machine(Machine& machine, const char* synthetic = nullptr);

} // namespace zipmpi::topo
