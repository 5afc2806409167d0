// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Helpers shared by the three kinds of topology.
#pragma once

#include "core/comm/comm.hpp"
#include "core/topology/topology.hpp"

#include <memory>

namespace zipmpi::core {

// Creates a communicator of `order.size()` ranks in which rank r is rank order[r] of `comm`; null for
// processes without a rank. Collective on `comm`.
Err make_with_topology(Comm& comm, const std::vector<int>& order, std::shared_ptr<Topology> topology,
                       Comm*& result);
// The new rank of this process, or undefined.
int own_rank_in(const std::vector<int>& order, const Comm& comm);

// The topology of the communicator, which must be of this kind.
Err topology_of(const Comm& comm, TopologyKind kind, const Topology*& topology);
[[gnu::cold]] Err require_intra(const Comm& comm);

} // namespace zipmpi::core
