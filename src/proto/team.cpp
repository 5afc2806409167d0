// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/team.hpp"

#include "proto/p2p/progress_engine.hpp"

namespace zipmpi::proto {

bool has_external(const Team& t) {
    for (int r = 0; t.engine->peers().external_ranks_enabled() && r < t.size; ++r)
        if (wire::is_external(t.map.world(r))) return true;
    return false;
}

} // namespace zipmpi::proto
