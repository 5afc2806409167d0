// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Barrier: gather to the node leader, barrier of the leaders, broadcast within the node. Cost 2 N + A.
#include "proto/coll/hierarchical/hierarchical.hpp"

namespace zipmpi::proto::coll::hierarchical {

void barrier(Collective& c, Team& t, Hierarchy& l) {
    Schedule& s = c.schedule();
    const bool leads = l.local_rank() == 0;
    std::byte* arrivals = s.scratch(leads ? static_cast<size_t>(l.node.size) : 1); // one byte per member
    std::byte* release = s.scratch(1);
    if (arrivals == nullptr || release == nullptr) return;
    coll::gather(c, l.node, arrivals, arrivals, 1, 0);
    s.wait();
    if (leads) {
        Team leaders = l.cross_node_team(t, 0);
        coll::barrier(c, leaders);
        s.wait();
    }
    coll::broadcast(c, l.node, release, 1, 0);
}

} // namespace zipmpi::proto::coll::hierarchical
