// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Divides the cores of a host among ranks (docs/decisions/0041). Pure.
#pragma once

#include "launch/placement/hardware_units.hpp"

namespace zipmpi::launch {

// A set of cores for each rank: disjoint, covering all cores, and as far apart as sockets, NUMA domains and
// caches allow. A unit gets ranks in proportion to its cores; if there are fewer ranks than units, a rank
// gets whole units. Adjacent ranks get adjacent sets. ranks: 1 to the number of cores.
std::vector<CoreIndices> divide_into_shares(const std::vector<hwtopo::Locality>& cores, uint32_t ranks);

// Groups of `each` cores for at least this number of ranks, within one NUMA domain or socket if all fit
// there. Empty if there are not enough cores.
std::vector<CoreIndices> core_blocks_for(const HostCores& cores, uint32_t ranks, uint32_t each);

} // namespace zipmpi::launch
