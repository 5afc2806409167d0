// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Distributed graphs whose vertices are assigned to other processes than those that described them.
// Collective.
#pragma once

#include "core/topology/reorder.hpp"
#include "core/topology/topology.hpp"

namespace zipmpi::core {

// Every process distributes the outgoing edges of its vertex, so that all compute the same order; each
// process then holds all edges of the graph.
Err order_vertices(Comm& comm, const DistGraph& own, Order& order);

// Sends the description of this process's vertex to the process that gets the vertex, and receives that of
// its new vertex.
Err exchange_vertices(Comm& comm, const Order& order, DistGraph& graph);

} // namespace zipmpi::core
