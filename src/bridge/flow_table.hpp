// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The flows of an endpoint, by rank and by index.
#pragma once

#include "bridge/flow_state.hpp"

#include <unordered_map>

namespace zipmpi::bridge {

class FlowTable {
  public:
    // Without a numbering, events name peers by the index of the flow.
    FlowTable(const EndpointIo& io, FlowNumbering* numbering)
        : io_(io)
        , numbering_(numbering) {}

    // The flow to and from a rank, created if necessary; indices are dense from 0.
    Flow& with(int world_rank) {
        const auto it = by_rank_.find(world_rank);
        return it != by_rank_.end() ? *it->second : create(world_rank);
    }
    [[nodiscard]] Flow* find(int world_rank) const {
        const auto it = by_rank_.find(world_rank);
        return it != by_rank_.end() ? it->second : nullptr;
    }
    [[nodiscard]] Flow& operator[](Peer index) const { return *flows_[index]; }
    [[nodiscard]] size_t size() const { return flows_.size(); }
    [[nodiscard]] auto begin() const { return flows_.begin(); }
    [[nodiscard]] auto end() const { return flows_.end(); }

  private:
    Flow& create(int world_rank) {
        const auto index = static_cast<Peer>(flows_.size());
        Flow& flow = *flows_.emplace_back(std::make_unique<Flow>());
        by_rank_.emplace(world_rank, &flow);
        flow.world_rank = world_rank;
        flow.index = index;
        flow.peer = numbering_ != nullptr ? numbering_->number_flow(index) : index;
        flow.route.paths = io_.paths_to(world_rank);
        return flow;
    }

    const EndpointIo& io_;
    FlowNumbering* numbering_;
    std::deque<std::unique_ptr<Flow>> flows_;
    std::unordered_map<int, Flow*> by_rank_;
};

} // namespace zipmpi::bridge
