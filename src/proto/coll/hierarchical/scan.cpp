// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scan: within the nodes; then an exclusive scan of the node totals between the last members of the nodes, a
// broadcast within each node, and a local combine. Cost 2 N + A.
#include "proto/coll/hierarchical/hierarchical.hpp"

namespace zipmpi::proto::coll::hierarchical {

void scan(Collective& c, Team& t, Hierarchy& l, const void* input, void* result, ScanKind kind) {
    Schedule& s = c.schedule();
    const bool exclusive = kind == ScanKind::exclusive;
    const size_t bytes = s.op().bytes();
    const int64_t count = s.op().count;
    const int last = l.node.size - 1;
    const bool leads = l.local_rank() == last;
    std::byte* own = leads && exclusive ? s.scratch(bytes) : nullptr; // the result may alias the input
    if (own != nullptr) s.copy(own, input, bytes);
    exclusive ? coll::exscan(c, l.node, input, result) : coll::scan(c, l.node, input, result);
    s.wait();
    std::byte* before = l.my_node > 0 || leads ? s.scratch(bytes) : nullptr;
    if (leads) {
        if (exclusive && last > 0) s.combine(result, own, count);
        Team leaders = l.cross_node_team(t, -1);
        coll::exscan(c, leaders, exclusive ? own : result, before);
        s.wait();
    }
    if (l.my_node == 0) return;
    coll::broadcast(c, l.node, before, bytes, last);
    s.wait();
    if (exclusive && l.local_rank() == 0)
        s.copy(result, before, bytes);
    else
        s.combine(before, result, count);
}

} // namespace zipmpi::proto::coll::hierarchical
