// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Peers of a rank in a multi-cluster job as the protocols number them: direct ones and relayed ones.
#pragma once

#include "bridge/endpoint_io.hpp"

#include <unordered_map>

namespace zipmpi::bridge {

struct PeerRoute {
    bool relayed;
    Peer inner; // index in the endpoint or in the direct network
};

class PeerNumbering final : public FlowNumbering {
  public:
    [[nodiscard]] const PeerRoute& operator[](Peer peer) const { return peers_[peer]; }
    Peer number_flow(Peer flow) override { return number(by_relayed_, {true, flow}); }
    Peer number_direct(Peer inner) { return number(by_direct_, {false, inner}); }

    [[nodiscard]] int find(int world_rank) const { // -1: not numbered
        const auto it = by_rank_.find(world_rank);
        return it != by_rank_.end() ? static_cast<int>(it->second) : -1;
    }
    void set_rank(int world_rank, Peer peer) { by_rank_.emplace(world_rank, peer); }

  private:
    Peer number(std::vector<int>& numbers, PeerRoute route) {
        if (numbers.size() <= route.inner) numbers.resize(route.inner + 1, -1);
        int& number = numbers[route.inner];
        if (number < 0) {
            number = static_cast<int>(peers_.size());
            peers_.push_back(route);
        }
        return static_cast<Peer>(number);
    }

    std::vector<PeerRoute> peers_;
    std::vector<int> by_direct_, by_relayed_; // index in peers_; -1: none
    std::unordered_map<int, Peer> by_rank_;
};

} // namespace zipmpi::bridge
