// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Routes of frames through a multi-cluster job: always toward fewer gateways, so there are no loops. Gateways
// and links that are down are left out. Pure functions.
#pragma once

#include "bridge/cluster_map.hpp"

namespace zipmpi::bridge {

// Next hop of a frame at a gateway.
struct Hop {
    enum class Kind { rank, gateway, link, none };
    Kind kind = Kind::none;
    int cluster = -1; // rank, gateway: cluster in which the next hop is reached
    int gateway = -1; // gateway, link: its number
    int link = -1;    // link: index in the links of this gateway
};

class RoutingTable {
  public:
    explicit RoutingTable(const ClusterMap& cluster_map);

    void set_gateway_up(int gateway, bool up);
    void set_link_up(int a, int b, bool up);

    // Gateways that a frame crosses from `gateway` into any of the clusters, including itself; 0:
    // unreachable.
    [[nodiscard]] int distance(int gateway, std::span<const int> clusters) const;
    // Gateways in any of the `from` clusters nearest to the `to` clusters, ascending.
    [[nodiscard]] std::vector<int> nearest_gateways(std::span<const int> from, std::span<const int> to) const;
    // All next hops from a gateway on a shortest route.
    [[nodiscard]] std::vector<Hop> next_hops(int gateway, std::span<const int> to) const;

  private:
    void compute_distances();
    [[nodiscard]] bool is_link_up(int a, int b) const;
    // Calls visit(hop) for every adjacent gateway.
    template <class Visit>
    void for_each_neighbor(int gateway, Visit visit) const;

    const ClusterMap* cluster_map_;
    std::vector<bool> up_;
    std::vector<std::pair<int, int>> links_down_;
    std::vector<std::vector<int>> distance_; // by gateway and cluster
};

} // namespace zipmpi::bridge
