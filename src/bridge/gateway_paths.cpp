// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/gateway_paths.hpp"

#include <algorithm>
#include <utility>

namespace zipmpi::bridge {
namespace {

constexpr uint64_t reconnect_ns = 500'000'000;

} // namespace

GatewayPaths::GatewayPaths(int own_rank, const ClusterLocator& locator)
    : own_rank_(own_rank)
    , locator_(locator)
    , routes_(*locator.cluster_map)
    , connections_(locator.cluster_map->gateways.size()) {}

void GatewayPaths::connect() {
    for (int path = 0; path < size(); ++path) {
        const int id = gateway_id(locator_.job_size, path);
        if (locator_.cluster_to(own_rank_, id) >= 0) at(path).peer = network_->connect_to(id);
    }
}

int GatewayPaths::reconnect() {
    int happened = 0;
    for (int path = 0; path < size(); ++path) {
        Connection& c = at(path);
        if (c.peer < 0) continue;
        if (std::exchange(c.reset_pending, false)) {
            network_->reset_peer(static_cast<Peer>(c.peer));
            ++happened;
        }
        if (c.retry_ns == 0 || os::now_ns() < c.retry_ns) continue;
        c.retry_ns = os::now_ns() + reconnect_ns;
        network_->reset_peer(static_cast<Peer>(c.peer));
        static_cast<void>(network_->connect_to(gateway_id(locator_.job_size, path)));
    }
    return happened;
}

bool GatewayPaths::has_pending_reset() const {
    return std::ranges::any_of(connections_, &Connection::reset_pending);
}

uint64_t GatewayPaths::next_retry_ns() const {
    uint64_t due = ~uint64_t{0};
    for (const Connection& c : connections_)
        if (c.retry_ns != 0) due = std::min(due, c.retry_ns);
    return due;
}

bool GatewayPaths::all_ready(const PathSet& paths) const {
    for (int path = 0; path < size(); ++path) {
        const Connection& c = connections_[static_cast<size_t>(path)];
        if (c.peer < 0 || c.reset_pending || c.retry_ns != 0) continue;
        if (!paths.is_up(path) || !network_->path_ready(static_cast<Peer>(c.peer))) return false;
    }
    return true;
}

int GatewayPaths::path_of(int id) const {
    const int gateway = id - locator_.job_size;
    return gateway >= 0 && gateway < size() ? gateway : -1;
}

bool GatewayPaths::has_route_to(int world_rank) const {
    return !routes_.nearest_gateways(locator_.clusters_of(own_rank_), locator_.clusters_of(world_rank))
                .empty();
}

std::vector<int> GatewayPaths::paths_to(int world_rank) const {
    const std::vector<int>& there = locator_.clusters_of(world_rank);
    std::vector<int> paths = routes_.nearest_gateways(locator_.clusters_of(own_rank_), there);
    std::erase_if(paths, [&](int path) {
        const std::vector<int>& blocked = connections_[static_cast<size_t>(path)].blocked;
        return std::ranges::all_of(there, [&](int c) { return std::ranges::count(blocked, c) != 0; });
    });
    return paths;
}

int GatewayPaths::on_peer_failed(Peer peer) {
    for (int path = 0; path < size(); ++path)
        if (at(path).peer == static_cast<int>(peer)) {
            close_path(path); // retried unless it was restarted and connects itself
            return path;
        }
    return -1;
}

void GatewayPaths::on_connected(int path, Peer peer) {
    Connection& c = at(path);
    c.peer = static_cast<int>(peer);
    c.reset_pending = false;
    c.retry_ns = 0;
}

bool GatewayPaths::on_route_update(int path, const wire::RouteUpdate& update) {
    if (update.cluster < 0 || static_cast<size_t>(update.cluster) >= locator_.cluster_map->clusters.size())
        return false;
    std::vector<int>& blocked = at(path).blocked;
    const bool was_blocked = std::erase(blocked, update.cluster) != 0;
    if (update.distance == 0) blocked.push_back(update.cluster);
    return was_blocked != (update.distance == 0);
}

PostStatus GatewayPaths::send(int path, std::span<const std::byte> head, std::span<const std::byte> data,
                              FrameTicket* ticket) {
    const Connection& c = at(path);
    if (c.peer < 0 || c.reset_pending) return PostStatus::failed;
    return network_->send_frame(static_cast<Peer>(c.peer), head, data, ticket, batching_);
}

void GatewayPaths::close_path(int path) {
    at(path).reset_pending = true;
    at(path).retry_ns = os::now_ns() + reconnect_ns;
}

} // namespace zipmpi::bridge
