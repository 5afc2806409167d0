// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the three topologies share.
#pragma once

#include "core/comm/comm.hpp"
#include "core/topo/topology.hpp"

#include <memory>

namespace zipmpi::core {

// A communicator of the first `order.size()` places, of which place r goes to rank order[r] of `comm`; null
// for processes without one. Collective on `comm`.
Err make_with_topology(Comm& comm, const std::vector<int>& order, std::shared_ptr<Topology> topology,
                       Comm*& result);
// The place of this process, or undefined.
int own_place_in(const std::vector<int>& order, const Comm& comm);

// The topology of the communicator, which must be of this kind.
Err topology_of(const Comm& comm, TopologyKind kind, const Topology*& topology);
[[gnu::cold]] Err need_intra(const Comm& comm);

} // namespace zipmpi::core
