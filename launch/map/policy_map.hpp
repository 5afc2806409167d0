// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks are on which host by a placement policy. Pure; map_ranks() of node_map.hpp looks at this host
// where it must know the hardware.
#pragma once

#include "launch/map/node_map.hpp"

namespace zipmpi::launch {

// units: how many of policy.map_unit a host has. PE=N: a rank takes N slots.
bool map_by_policy(std::vector<Host>& hosts, uint32_t ranks, const PlacementPolicy& policy, uint32_t units,
                   NodeMap& out, Problem& why);

} // namespace zipmpi::launch
