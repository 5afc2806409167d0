// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Map of ranks to hosts by a placement policy. Pure; map_ranks() of node_map.hpp reads this host where the
// hardware matters.
#pragma once

#include "launch/placement/node_map.hpp"

namespace zipmpi::launch {

// units: number of policy.map_unit units on a host. PE=N: a rank takes N slots.
bool map_by_policy(std::vector<Host>& hosts, uint32_t ranks, const PlacementPolicy& policy, uint32_t units,
                   NodeMap& out, Diagnostic& why);

} // namespace zipmpi::launch
