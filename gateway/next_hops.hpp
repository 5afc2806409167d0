// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The next hop of each frame at this gateway, over the links that are up.
#pragma once

#include "bridge/routes.hpp"
#include "gateway/config.hpp"
#include "wire/frame_layout.hpp"

#include <unordered_map>

namespace zipmpi::gateway {

class NextHops {
  public:
    explicit NextHops(const GatewayConfig& config); // all links are down

    // Frames of one flow take the same hop where possible. Null: no route.
    [[nodiscard]] const bridge::Hop* find(const wire::Frame& frame);
    // The rank or gateway that a hop leads to.
    [[nodiscard]] int id_at(const bridge::Hop& hop, const wire::Frame& frame) const {
        return hop.kind == bridge::Hop::Kind::rank ? frame.to : config_.id_of(hop.gateway);
    }
    void set_link_up(int gateway);
    void set_link_down(int gateway);
    // Gateways that a frame crosses into a cluster, including this one; 0: unreachable.
    [[nodiscard]] int distance_to(int cluster) const {
        return routes_.distance(config_.number, std::span(&cluster, 1));
    }

  private:
    const GatewayConfig& config_;
    bridge::RoutingTable routes_;
    std::unordered_map<int, std::vector<bridge::Hop>> hops_; // by rank, until routes change
};

} // namespace zipmpi::gateway
