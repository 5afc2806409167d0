// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Broadcast: to the leaders, then within each node. Cost A + N.
#include "proto/coll/hierarchical/hierarchical.hpp"

namespace zipmpi::proto::coll::hierarchical {

void broadcast(Collective& c, Team& t, Hierarchy& l, void* data, size_t bytes, int root) {
    Schedule& s = c.schedule();
    const int leader = leader_for_root(l, root);
    if (l.local_rank() == leader) {
        Team leaders = l.cross_node_team(t, 0, root);
        coll::broadcast(c, leaders, data, bytes, l.nodes.node_of(root));
        s.wait();
    }
    coll::broadcast(c, l.node, data, bytes, leader);
}

} // namespace zipmpi::proto::coll::hierarchical
