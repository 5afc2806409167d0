// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/topo/reorder.hpp"

#include "base/stable_sort.hpp"
#include "core/comm/hardware.hpp"
#include "core/state.hpp"
#include "mapping/refine.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/lane.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace zipmpi::core {
namespace {

auto sort_key(const Spot& s) {
    const topo::Place& p = s.place;
    return std::tuple(s.cluster, s.node, p.package, p.numa, p.l3, p.l2, p.core, p.cpu);
}

// Processes next to each other in hardware are next to each other here.
std::vector<int> by_spot(const std::vector<Spot>& spots, int size) {
    std::vector<int> processes = same_order(size);
    stable_sort(processes, [&](int a, int b) {
        return sort_key(spots[static_cast<size_t>(a)]) < sort_key(spots[static_cast<size_t>(b)]);
    });
    return processes;
}

// The group of each process: what it shares with others at the outermost level that does not hold all of
// them.
std::vector<int> groups_of(const std::vector<Spot>& spots, int size) {
    std::vector<int> groups(static_cast<size_t>(size));
    const auto differ = [&](const auto& group_of) {
        std::transform(spots.begin(), spots.begin() + size, groups.begin(), group_of);
        return std::any_of(groups.begin(), groups.end(), [&](int group) { return group != groups[0]; });
    };
    if (differ([](const Spot& s) { return s.cluster; }) || differ([](const Spot& s) { return s.node; }))
        return groups;
    for (const topo::Level level : topo::levels)
        if (differ([level](const Spot& s) { return int{topo::index_at(s.place, level)}; })) break;
    return groups;
}

// Who of the ranks without a process talks most to those that have one. Gains only grow, so what lies in a
// queue with less than its present gain is out of date.
class Gains {
  public:
    explicit Gains(size_t ranks)
        : gain_(ranks) {}
    void add(int rank, int weight) {
        gain_[static_cast<size_t>(rank)] += weight;
        queue_.emplace(gain_[static_cast<size_t>(rank)], -rank);
    }
    template <class Taken>
    int best(const Taken& taken) { // -1: none
        while (!queue_.empty()) {
            const auto [gain, negative] = queue_.top();
            if (!taken(-negative) && gain == gain_[static_cast<size_t>(-negative)]) return -negative;
            queue_.pop();
        }
        return -1;
    }
    void forget() {
        for (; !queue_.empty(); queue_.pop()) gain_[static_cast<size_t>(-queue_.top().second)] = 0;
    }

  private:
    std::vector<int64_t> gain_;
    std::priority_queue<std::pair<int64_t, int>> queue_;
};

// Edges of each rank in both directions.
std::vector<std::vector<Edge>> edges_by_rank(int size, const std::vector<Edge>& edges) {
    std::vector<std::vector<Edge>> of(static_cast<size_t>(size));
    for (const Edge& e : edges) {
        if (e.from == e.to) continue;
        of[static_cast<size_t>(e.from)].push_back(e);
        of[static_cast<size_t>(e.to)].push_back({e.to, e.from, e.weight});
    }
    return of;
}

Order grown_order(const std::vector<Spot>& spots, int size, const std::vector<Edge>& edges) {
    const std::vector<std::vector<Edge>> of = edges_by_rank(size, edges);
    const std::vector<int> groups = groups_of(spots, size);
    Order order(static_cast<size_t>(size), -1);
    const auto taken = [&](int rank) { return order[static_cast<size_t>(rank)] >= 0; };
    Gains in_group(order.size());
    Gains in_all(order.size());
    int next_free = 0;
    int group = -1;
    for (const int process : by_spot(spots, size)) {
        const int its_group = groups[static_cast<size_t>(process)];
        if (its_group != group) in_group.forget();
        group = its_group;
        int rank = in_group.best(taken);
        if (rank < 0) rank = in_all.best(taken);
        for (; rank < 0; ++next_free)
            if (!taken(next_free)) rank = next_free;
        order[static_cast<size_t>(rank)] = process;
        for (const Edge& e : of[static_cast<size_t>(rank)]) {
            if (taken(e.to)) continue;
            in_group.add(e.to, e.weight);
            in_all.add(e.to, e.weight);
        }
    }
    return order;
}

// Pairs of ranks change processes as long as that is a gain. Every process of the communicator does the same,
// so it must not take long; weights and distances are whole numbers, so all come to the same result.
Order polished(Order order, const std::vector<Spot>& spots, const std::vector<Edge>& edges) {
    constexpr size_t most_ranks = 128;
    constexpr uint64_t looks = 200'000; // about a millisecond
    if (order.size() > most_ranks) return order;
    mapping::Targets processes;
    processes.room.assign(order.size(), 1);
    for (size_t a = 0; a < order.size(); ++a)
        for (size_t b = 0; b < order.size(); ++b)
            processes.distance.push_back(static_cast<double>(distance(spots[a], spots[b])));
    std::vector<mapping::Edge> talk;
    talk.reserve(edges.size());
    for (const Edge& e : edges)
        talk.push_back(
            {static_cast<uint32_t>(e.from), static_cast<uint32_t>(e.to), static_cast<double>(e.weight)});
    mapping::Assignment at(order.begin(), order.end());
    mapping::descend({static_cast<uint32_t>(order.size()), std::move(talk)}, processes, at, looks);
    return {at.begin(), at.end()};
}

std::vector<Spot> hosts_of(const Comm& comm) {
    std::vector<Spot> spots(static_cast<size_t>(comm.team.size));
    for (int r = 0; r < comm.team.size; ++r) {
        const int world = comm.team.map.world(r);
        spots[static_cast<size_t>(r)] = {lane().cluster_of(world), lane().node_of(world), nowhere};
    }
    return spots;
}

} // namespace

Order same_order(int size) {
    Order order(static_cast<size_t>(size));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

int64_t distance(const Spot& a, const Spot& b) {
    constexpr int64_t other_node = 20; // about what a message costs more than within a node
    constexpr int64_t other_cluster = 100;
    if (a.cluster != b.cluster) return other_cluster;
    if (a.node != b.node) return other_node;
    return static_cast<int64_t>(topo::pair_class(a.place, b.place));
}

int64_t cost_of(const Order& order, const std::vector<Spot>& spots, const std::vector<Edge>& edges) {
    int64_t cost = 0;
    const auto spot = [&](int rank) { return spots[static_cast<size_t>(order[static_cast<size_t>(rank)])]; };
    for (const Edge& e : edges) cost += int64_t{e.weight} * distance(spot(e.from), spot(e.to));
    return cost;
}

Order near_order(const std::vector<Spot>& spots, int size, const std::vector<Edge>& edges) {
    const Order same = same_order(size);
    Order grown = polished(grown_order(spots, size, edges), spots, edges);
    return cost_of(grown, spots, edges) < cost_of(same, spots, edges) ? grown : same;
}

Err place_on(Comm& comm, int size, const std::vector<Edge>& edges, Order& order) {
    order = same_order(size);
    if (has_foreign(comm.team)) return Err::success; // where those are is not known to all
    std::vector<topo::Place> places(static_cast<size_t>(comm.team.size));
    topo::Place& own = places[static_cast<size_t>(comm.team.rank)];
    if (!find_own_place(own)) own = nowhere;
    if (const Err e = proto::coll::allgather(comm.team, places.data(), sizeof own); e != Err::success)
        return e;
    std::vector<Spot> spots = hosts_of(comm);
    for (size_t r = 0; r < spots.size(); ++r) spots[r].place = places[r];
    order = near_order(spots, size, edges);
    return Err::success;
}

Order order_without_others(const Comm& comm, int size, const std::vector<Edge>& edges) {
    if (has_foreign(comm.team)) return same_order(size);
    std::vector<Spot> spots = hosts_of(comm);
    const bool one_host = std::all_of(spots.begin(), spots.end(), [](const Spot& s) {
        return s.node == lane().node_of(lane().world_rank());
    });
    for (int r = 0; one_host && r < comm.team.size; ++r)
        spots[static_cast<size_t>(r)].place = place_of_peer(comm.team.map.world(r));
    return near_order(spots, size, edges);
}

} // namespace zipmpi::core
