// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cores of this host that we may use, from its topology if that can be had, else one core per allowed
// CPU.
#pragma once

#include "launch/map/placement.hpp"

#include "topo/place.hpp"

namespace zipmpi::launch {

// machine: without CPUs if its topology is not known.
std::vector<CpuList> allowed_cores(const topo::Machine& machine);

// Where each core lies.
std::vector<topo::Place> places_of(const topo::Machine& machine, const std::vector<CpuList>& cores);

// The socket of each core; 0 if it is not known.
std::vector<uint16_t> sockets_of(const topo::Machine& machine, const std::vector<CpuList>& cores);

} // namespace zipmpi::launch
