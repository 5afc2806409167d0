// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Broadcast: to the leaders, and by each of them within its node. A + N.
#include "proto/coll/two_level/two_level.hpp"

namespace zipmpi::proto::coll::two_level {

void broadcast(Schedule& s, Team& t, Levels& l, void* data, size_t bytes, int root) {
    const int leader = leader_with(l, root);
    if (l.place() == leader) {
        Team leaders = l.across(t, 0, root);
        coll::broadcast(s, leaders, data, bytes, l.nodes.node_of(root));
        s.wait();
    }
    coll::broadcast(s, l.node, data, bytes, leader);
}

} // namespace zipmpi::proto::coll::two_level
