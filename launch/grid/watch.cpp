// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/grid/watch.hpp"

#include <algorithm>

namespace zipmpi::launch {

std::vector<bridge::NodePlace> kinds_of_nodes(const bridge::Grid& grid) {
    std::vector<bridge::NodePlace> kinds;
    for (const bridge::NodePlace& n : grid.nodes)
        if (std::ranges::find(kinds, n.clusters, &bridge::NodePlace::clusters) == kinds.end())
            kinds.push_back(n);
    return kinds;
}

void GridWatch::begin(const StartRequest& request) {
    if (!bridge::parse(request.grid, grid_)) return;
    request_ = &request;
    routes_.emplace(grid_);
}

bool GridWatch::lose_nodes(uint32_t first, uint32_t end) {
    if (!routes_ || request_->map.has_ranks(first, end)) return false;
    bool any = false;
    for (uint32_t g = 0; g < request_->gateway_nodes.size(); ++g) {
        const uint32_t node = request_->gateway_nodes[g];
        if (node < first || node >= end) continue;
        lose_gateway(g);
        any = true;
    }
    return any;
}

void GridWatch::lose_gateway(uint32_t number) {
    if (routes_ && number < grid_.gateways.size()) routes_->set_up(static_cast<int>(number), false);
}

std::string GridWatch::names(const std::vector<int>& clusters) const {
    std::string text;
    for (size_t i = 0; i < clusters.size(); ++i)
        text += (i == 0                     ? ""
                 : i + 1 == clusters.size() ? " and "
                                            : ", ") +
                grid_.clusters[static_cast<size_t>(clusters[i])].name;
    return text;
}

std::string GridWatch::clusters_of(uint32_t node) const {
    return node < grid_.nodes.size() ? names(grid_.nodes[node].clusters) : std::string();
}

// gateway 0, z, joins a and b
// gateway 1, g1, in a, linked with g2
std::string GridWatch::picture() const {
    std::string text;
    for (const bridge::GatewayPlace& g : grid_.gateways) {
        std::vector<int> clusters;
        for (const bridge::Attachment& a : g.attached) clusters.push_back(a.cluster);
        text += "gateway " + std::to_string(g.number) + ", " + g.host +
                (clusters.size() > 1 ? ", joins " : ", in ") + names(clusters);
        for (const bridge::Link& l : g.links)
            text += ", linked with " + grid_.gateways[static_cast<size_t>(l.to_gateway)].host;
        text += "\n";
    }
    return text;
}

std::string GridWatch::cut() const {
    if (!routes_) return {};
    const std::vector<bridge::NodePlace> kinds = kinds_of_nodes(grid_);
    for (const bridge::NodePlace& a : kinds)
        for (const bridge::NodePlace& b : kinds) {
            if (bridge::share_cluster(a, b) || !routes_->lanes(a.clusters, b.clusters).empty()) continue;
            return names({a.clusters[0], b.clusters[0]});
        }
    return {};
}

} // namespace zipmpi::launch
