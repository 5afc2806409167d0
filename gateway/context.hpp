// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a gateway inherits from the daemon that starts it: the environment of a rank.
#pragma once

#include "boot/pmi_client.hpp"
#include "bridge/cluster_map.hpp"
#include "segment/node_segment.hpp"

#include "transport/auth/key.hpp"

#include <memory>
#include <string>

namespace zipmpi::gateway {

struct GatewayContext {
    segment::NodeSegment segment;
    boot::PmiIdentity identity;
    std::unique_ptr<boot::Launcher> launcher;
    bridge::ClusterMap cluster_map;
    int number = 0;
    int epoch = 1;
    std::string job_id;

    [[nodiscard]] const bridge::GatewaySpec& own_spec() const {
        return cluster_map.gateways[static_cast<size_t>(number)];
    }
    // The segment of gateways has no other key.
    [[nodiscard]] transport::auth::HandshakeKeys handshake_keys() const {
        const auto& hop = segment.header().keys.hop;
        return {hop, hop, identity.size};
    }
    [[nodiscard]] const std::string& cluster_name(int cluster) const {
        return cluster_map.clusters[static_cast<size_t>(cluster)].name;
    }
};

std::string variable(const char* name); // of the environment; empty: not set
// Returns false on failure, with the reason in why.
bool read_context(GatewayContext& context, std::string& why);

} // namespace zipmpi::gateway
