// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/team.hpp"

#include "proto/p2p/lane.hpp"

namespace zipmpi::proto {

bool has_foreign(const Team& t) {
    for (int r = 0; t.lane->expects_foreign() && r < t.size; ++r)
        if (wire::is_foreign(t.map.world(r))) return true;
    return false;
}

} // namespace zipmpi::proto
