// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Divides the cores of a host among ranks (docs/decisions/0041). Pure.
#pragma once

#include "launch/map/units.hpp"

namespace zipmpi::launch {

// A set of cores for each rank: disjoint, together all of them, and as far apart as sockets, memories and
// caches allow. A unit gets ranks in proportion to its cores; ranks that are fewer than units get whole ones.
// Ranks of neighboring numbers are neighbors. ranks: from 1 to the number of cores.
std::vector<CoreNumbers> shares_of(const std::vector<topo::Place>& cores, uint32_t ranks);

// Bundles of `each` cores for at least so many ranks, within one memory or one socket if all fit there.
// Empty: there are not enough cores.
std::vector<CoreNumbers> bundles_for(const HostCores& cores, uint32_t ranks, uint32_t each);

} // namespace zipmpi::launch
