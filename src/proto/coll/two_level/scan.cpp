// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scan: within the nodes; then the last members, who know what their nodes sum up to, find what is before
// them; each tells its node, and all combine. 2 N + A.
#include "proto/coll/two_level/two_level.hpp"

namespace zipmpi::proto::coll::two_level {

void scan(Schedule& s, Team& t, Levels& l, const void* mine, void* result, bool exclusive) {
    const size_t bytes = s.operation().bytes();
    const int64_t count = s.operation().count;
    const int last = l.node.size - 1;
    const bool leads = l.place() == last;
    std::byte* own = leads && exclusive ? s.scratch(bytes) : nullptr; // the result may be the contribution
    if (own != nullptr) s.copy(own, mine, bytes);
    exclusive ? coll::exscan(s, l.node, mine, result) : coll::scan(s, l.node, mine, result);
    s.wait();
    std::byte* before = l.my_node > 0 || leads ? s.scratch(bytes) : nullptr;
    if (leads) {
        if (exclusive && last > 0) s.combine(result, own, count);
        Team leaders = l.across(t, -1);
        coll::exscan(s, leaders, exclusive ? own : result, before);
        s.wait();
    }
    if (l.my_node == 0) return;
    coll::broadcast(s, l.node, before, bytes, last);
    s.wait();
    if (exclusive && l.place() == 0)
        s.copy(result, before, bytes);
    else
        s.combine(before, result, count);
}

} // namespace zipmpi::proto::coll::two_level
