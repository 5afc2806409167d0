// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Barrier: all members of a node tell its leader, leaders meet, and each tells its node. 2 N + A.
#include "proto/coll/two_level/two_level.hpp"

namespace zipmpi::proto::coll::two_level {

void barrier(Schedule& s, Team& t, Levels& l) {
    const bool leads = l.place() == 0;
    std::byte* came = s.scratch(leads ? static_cast<size_t>(l.node.size) : 1); // one byte of each member
    std::byte* go = s.scratch(1);
    if (came == nullptr || go == nullptr) return;
    coll::gather(s, l.node, came, came, 1, 0);
    s.wait();
    if (leads) {
        Team leaders = l.across(t, 0);
        coll::barrier(s, leaders);
        s.wait();
    }
    coll::broadcast(s, l.node, go, 1, 0);
}

} // namespace zipmpi::proto::coll::two_level
