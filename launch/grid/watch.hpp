// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What mpiexec knows about the gateways of a job: which are lost for good, and whether the clusters that have
// ranks still have a way to each other. Pure.
#pragma once

#include "launch/link/messages.hpp"

#include "bridge/routes.hpp"

#include <optional>

namespace zipmpi::launch {

// The nodes of a grid without those that are in the same clusters as one before.
std::vector<bridge::NodePlace> kinds_of_nodes(const bridge::Grid& grid);

class GridWatch {
  public:
    void begin(const StartRequest& request); // does nothing for a job in one cluster
    // Gateways on these nodes are gone. False: there are ranks, or no gateways, on them.
    bool lose_nodes(uint32_t first, uint32_t end);
    void lose_gateway(uint32_t number);
    [[nodiscard]] std::string picture() const; // of the gateways, for --show-placement
    // "a and b": clusters without a way between them; empty: all is well.
    [[nodiscard]] std::string cut() const;

    // The clusters of a node that has ranks, by its number among those: "a and b"; empty: there is no grid.
    [[nodiscard]] std::string clusters_of(uint32_t node) const;

  private:
    [[nodiscard]] std::string names(const std::vector<int>& clusters) const;
    const StartRequest* request_ = nullptr;
    bridge::Grid grid_;
    std::optional<bridge::Routes> routes_;
};

} // namespace zipmpi::launch
