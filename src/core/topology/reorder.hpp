// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rank reordering: decides which process gets which rank of a topology.
#pragma once

#include "core/comm/comm.hpp"
#include "hwtopo/machine.hpp"

#include <vector>

namespace zipmpi::core {

// Edge of the communication graph: ranks of the new topology and weight.
struct CommEdge {
    int from;
    int to;
    int weight;
};

// order[r]: rank in the communicator of the process that becomes rank r of the topology.
using Order = std::vector<int>;
Order identity_order(int size); // every process keeps its rank

// Cluster, host and hardware locality of a process.
struct ProcessLocality {
    int32_t cluster = 0;
    int32_t node = 0;
    hwtopo::Locality hw_locality;
};
// Distance by the closest shared resource, from a shared cache to none.
int64_t distance(const ProcessLocality& a, const ProcessLocality& b);

// Maps ranks with heavy traffic to nearby processes. Fills groups of processes that share hardware one after
// another with the ranks that communicate most with the group, then improves by pairwise exchange
// (src/mapping). Process 0 keeps rank 0: programs collect results at rank 0 of the new communicator, and
// write them where they are rank 0 of the old one. Returns the identity order if that is not worse. O(e log
// e).
Order locality_order(const std::vector<ProcessLocality>& localities, int size,
                     const std::vector<CommEdge>& edges);
// Communication cost of an order: weights times distances.
int64_t cost_of(const Order& order, const std::vector<ProcessLocality>& localities,
                const std::vector<CommEdge>& edges);

// locality_order() for the processes of a communicator, which exchange their localities. Collective.
Err collective_order(Comm& comm, int size, const std::vector<CommEdge>& edges, Order& order);
// locality_order() from locally available data, without participation of the other processes: on one host
// their localities from the node segment, on several hosts only the host. All callers get equal results.
// Waits for processes that have not started yet.
Order local_order(const Comm& comm, int size, const std::vector<CommEdge>& edges);

} // namespace zipmpi::core
