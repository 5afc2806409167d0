// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/local_members.hpp"

#include "proto/p2p/progress_engine.hpp"

namespace zipmpi::proto::rma {

LocalMembers::LocalMembers(const Team& team) {
    for (int r = 0; r < team.size; ++r)
        if (team.engine->peers().on_this_node(team.map.world(r))) ranks_.push_back(r);
    first_ = static_cast<uint32_t>(ranks_.front());
    consecutive_ = static_cast<uint32_t>(ranks_.back()) - first_ == count() - 1;
    if (consecutive_) return;
    numbers_.grow(static_cast<size_t>(team.size));
    for (uint32_t i = 0; i < count(); ++i) numbers_[static_cast<size_t>(ranks_[i])] = i + 1;
}

} // namespace zipmpi::proto::rma
