// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Distributed graphs whose vertices go to other processes than those that described them. Collective.
#pragma once

#include "core/topo/reorder.hpp"
#include "core/topo/topology.hpp"

namespace zipmpi::core {

// Every process tells the others the edges that leave its vertex, so that all find the same order: as many
// edges as the graph has come together in each process.
Err place_vertices(Comm& comm, const DistGraph& own, Order& order);

// Gives what this process knows of its vertex to the process that becomes it, and gets that of its new one.
Err hand_over_vertices(Comm& comm, const Order& order, DistGraph& graph);

} // namespace zipmpi::core
