// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a gateway knows about its job.
#pragma once

#include "bridge/cluster_map.hpp"
#include "transport/auth/key.hpp"

#include <cstdint>
#include <functional>

namespace zipmpi::gateway {

struct GatewayConfig {
    bridge::ClusterMap cluster_map;
    int number = 0; // of this gateway
    int job_size = 0;
    uint64_t job = 0;
    uint64_t pool = 0;               // bytes that may be buffered here
    std::function<int(int)> node_of; // of a rank
    transport::auth::Key hop_key;

    [[nodiscard]] const std::vector<bridge::GatewayLink>& links() const {
        return cluster_map.gateways[static_cast<size_t>(number)].links;
    }
    [[nodiscard]] const std::vector<int>& clusters_of(int rank) const {
        return cluster_map.nodes[static_cast<size_t>(node_of(rank))].clusters;
    }
    [[nodiscard]] int id_of(int gateway) const { return bridge::gateway_id(job_size, gateway); }
};

} // namespace zipmpi::gateway
