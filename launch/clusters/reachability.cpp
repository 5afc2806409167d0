// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/clusters/reachability.hpp"

#include <algorithm>

namespace zipmpi::launch {

std::vector<bridge::NodeClusters> distinct_memberships(const bridge::ClusterMap& cluster_map) {
    std::vector<bridge::NodeClusters> kinds;
    for (const bridge::NodeClusters& n : cluster_map.nodes)
        if (std::ranges::find(kinds, n.clusters, &bridge::NodeClusters::clusters) == kinds.end())
            kinds.push_back(n);
    return kinds;
}

void ClusterReachability::begin(const StartRequest& request) {
    if (!bridge::parse(request.cluster_map, cluster_map_)) return;
    request_ = &request;
    routes_.emplace(cluster_map_);
}

bool ClusterReachability::fail_nodes(uint32_t first, uint32_t end) {
    if (!routes_ || request_->map.has_ranks(first, end)) return false;
    bool any = false;
    for (uint32_t g = 0; g < request_->gateway_nodes.size(); ++g) {
        const uint32_t node = request_->gateway_nodes[g];
        if (node < first || node >= end) continue;
        fail_gateway(g);
        any = true;
    }
    return any;
}

void ClusterReachability::fail_gateway(uint32_t number) {
    if (routes_ && number < cluster_map_.gateways.size())
        routes_->set_gateway_up(static_cast<int>(number), false);
}

std::string ClusterReachability::join_names(const std::vector<int>& clusters) const {
    std::string text;
    for (size_t i = 0; i < clusters.size(); ++i)
        text += (i == 0                     ? ""
                 : i + 1 == clusters.size() ? " and "
                                            : ", ") +
                cluster_map_.clusters[static_cast<size_t>(clusters[i])].name;
    return text;
}

std::string ClusterReachability::clusters_of(uint32_t node) const {
    return node < cluster_map_.nodes.size() ? join_names(cluster_map_.nodes[node].clusters) : std::string();
}

// gateway 0, z, joins a and b
// gateway 1, g1, in a, linked with g2
std::string ClusterReachability::gateways_text() const {
    std::string text;
    for (const bridge::GatewaySpec& g : cluster_map_.gateways) {
        std::vector<int> clusters;
        for (const bridge::Attachment& a : g.attached) clusters.push_back(a.cluster);
        text += "gateway " + std::to_string(g.number) + ", " + g.host +
                (clusters.size() > 1 ? ", joins " : ", in ") + join_names(clusters);
        for (const bridge::GatewayLink& l : g.links)
            text += ", linked with " + cluster_map_.gateways[static_cast<size_t>(l.to_gateway)].host;
        text += "\n";
    }
    return text;
}

std::string ClusterReachability::find_partition() const {
    if (!routes_) return {};
    const std::vector<bridge::NodeClusters> kinds = distinct_memberships(cluster_map_);
    for (const bridge::NodeClusters& a : kinds)
        for (const bridge::NodeClusters& b : kinds) {
            if (bridge::share_cluster(a, b) || !routes_->nearest_gateways(a.clusters, b.clusters).empty())
                continue;
            return join_names({a.clusters[0], b.clusters[0]});
        }
    return {};
}

} // namespace zipmpi::launch
