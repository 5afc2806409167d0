// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which way frames go through a grid: always towards fewer gateways in between, so that no frame can go round
// in circles. What is known to be down is left out. Pure.
#pragma once

#include "bridge/grid.hpp"

namespace zipmpi::bridge {

// The next step of a frame that is at a gateway.
struct Hop {
    enum class Kind { rank, gateway, link, none };
    Kind kind = Kind::none;
    int cluster = -1; // rank, gateway: in whose network the next one is reached
    int gateway = -1; // gateway, link: which one
    int link = -1;    // link: index in the links of this gateway
};

class Routes {
  public:
    explicit Routes(const Grid& grid);

    void set_up(int gateway, bool up);
    void set_link_up(int a, int b, bool up);

    // Gateways that a frame crosses from `gateway` into any of the clusters, itself included; 0: there is no
    // way.
    [[nodiscard]] int distance(int gateway, std::span<const int> clusters) const;
    // Gateways in any of these clusters that are nearest to the others, ascending.
    [[nodiscard]] std::vector<int> lanes(std::span<const int> from, std::span<const int> to) const;
    // All next steps from a gateway that are nearest.
    [[nodiscard]] std::vector<Hop> next(int gateway, std::span<const int> to) const;

  private:
    void measure();
    [[nodiscard]] bool is_link_up(int a, int b) const;
    // Calls visit(hop) for every gateway beside this one.
    template <class Visit>
    void for_each_neighbour(int gateway, Visit visit) const;

    const Grid* grid_;
    std::vector<bool> up_;
    std::vector<std::pair<int, int>> links_down_;
    std::vector<std::vector<int>> distance_; // of gateway and cluster
};

} // namespace zipmpi::bridge
