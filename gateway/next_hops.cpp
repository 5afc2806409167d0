// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/next_hops.hpp"

namespace zipmpi::gateway {

NextHops::NextHops(const GatewayConfig& config)
    : config_(config)
    , routes_(config.cluster_map) {
    for (const bridge::GatewayLink& link : config.links()) set_link_down(link.to_gateway);
}

const bridge::Hop* NextHops::find(const wire::Frame& frame) {
    auto it = hops_.find(frame.to);
    if (it == hops_.end())
        it = hops_.emplace(frame.to, routes_.next_hops(config_.number, config_.clusters_of(frame.to))).first;
    const std::vector<bridge::Hop>& hops = it->second;
    return hops.empty() ? nullptr : &hops[static_cast<size_t>(frame.from + frame.to) % hops.size()];
}

void NextHops::set_link_up(int gateway) {
    routes_.set_link_up(config_.number, gateway, true);
    hops_.clear();
}

void NextHops::set_link_down(int gateway) {
    routes_.set_link_up(config_.number, gateway, false);
    hops_.clear();
}

} // namespace zipmpi::gateway
