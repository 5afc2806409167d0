// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/routes.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace zipmpi::bridge {
namespace {

int common_cluster(const GatewaySpec& a, const GatewaySpec& b) {
    for (const Attachment& x : a.attached)
        for (const Attachment& y : b.attached)
            if (x.cluster == y.cluster) return x.cluster;
    return -1;
}

size_t at(int index) { return static_cast<size_t>(index); }

} // namespace

RoutingTable::RoutingTable(const ClusterMap& cluster_map)
    : cluster_map_(&cluster_map)
    , up_(cluster_map.gateways.size(), true) {
    compute_distances();
}

void RoutingTable::set_gateway_up(int gateway, bool up) {
    if (up_[at(gateway)] == up) return;
    up_[at(gateway)] = up;
    compute_distances();
}

void RoutingTable::set_link_up(int a, int b, bool up) {
    const std::pair<int, int> link(std::min(a, b), std::max(a, b));
    const bool was_up = is_link_up(a, b);
    if (was_up == up) return;
    if (up)
        std::erase(links_down_, link);
    else
        links_down_.push_back(link);
    compute_distances();
}

bool RoutingTable::is_link_up(int a, int b) const {
    return std::ranges::count(links_down_, std::pair(std::min(a, b), std::max(a, b))) == 0;
}

template <class Visit>
void RoutingTable::for_each_neighbor(int gateway, Visit visit) const {
    const GatewaySpec& g = cluster_map_->gateways[at(gateway)];
    for (const GatewaySpec& other : cluster_map_->gateways) {
        if (other.number == gateway || !up_[at(other.number)]) continue;
        const int cluster = common_cluster(g, other);
        if (cluster >= 0) visit(Hop{Hop::Kind::gateway, cluster, other.number, -1});
    }
    for (size_t i = 0; i < g.links.size(); ++i)
        if (up_[at(g.links[i].to_gateway)] && is_link_up(gateway, g.links[i].to_gateway))
            visit(Hop{Hop::Kind::link, -1, g.links[i].to_gateway, static_cast<int>(i)});
}

// Breadth-first search from each cluster.
void RoutingTable::compute_distances() {
    distance_.assign(cluster_map_->gateways.size(), std::vector<int>(cluster_map_->clusters.size(), 0));
    for (size_t c = 0; c < cluster_map_->clusters.size(); ++c) {
        std::deque<int> reached;
        for (const GatewaySpec& g : cluster_map_->gateways) {
            const bool attached =
                std::ranges::count(g.attached, static_cast<int>(c), &Attachment::cluster) != 0;
            if (!attached || !up_[at(g.number)]) continue;
            distance_[at(g.number)][c] = 1;
            reached.push_back(g.number);
        }
        for (; !reached.empty(); reached.pop_front()) {
            const int here = distance_[at(reached.front())][c];
            for_each_neighbor(reached.front(), [&](const Hop& hop) {
                int& there = distance_[at(hop.gateway)][c];
                if (there != 0) return;
                there = here + 1;
                reached.push_back(hop.gateway);
            });
        }
    }
}

int RoutingTable::distance(int gateway, std::span<const int> clusters) const {
    int nearest = 0;
    for (const int c : clusters) {
        const int d = distance_[at(gateway)][at(c)];
        if (d != 0 && (nearest == 0 || d < nearest)) nearest = d;
    }
    return nearest;
}

std::vector<int> RoutingTable::nearest_gateways(std::span<const int> from, std::span<const int> to) const {
    std::vector<int> found;
    int nearest = 0;
    for (const GatewaySpec& g : cluster_map_->gateways) {
        const bool direct = std::ranges::any_of(
            g.attached, [&](const Attachment& a) { return std::ranges::count(from, a.cluster) != 0; });
        const int d = direct ? distance(g.number, to) : 0;
        if (d == 0 || (nearest != 0 && d > nearest)) continue;
        if (d != nearest) found.clear();
        nearest = d;
        found.push_back(g.number);
    }
    return found;
}

std::vector<Hop> RoutingTable::next_hops(int gateway, std::span<const int> to) const {
    std::vector<Hop> hops;
    const int here = distance(gateway, to);
    if (here == 1) {
        for (const Attachment& a : cluster_map_->gateways[at(gateway)].attached)
            if (std::ranges::count(to, a.cluster) != 0) hops.push_back({Hop::Kind::rank, a.cluster, -1, -1});
    } else if (here > 1) {
        for_each_neighbor(gateway, [&](const Hop& hop) {
            if (distance(hop.gateway, to) == here - 1) hops.push_back(hop);
        });
    }
    return hops;
}

} // namespace zipmpi::bridge
