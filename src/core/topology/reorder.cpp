// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/topology/reorder.hpp"

#include "base/stable_sort.hpp"
#include "core/comm/locality.hpp"
#include "core/runtime_state.hpp"
#include "mapping/refine.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace zipmpi::core {
namespace {

// Compares first those units that contain `first`.
auto sort_key(const ProcessLocality& s, const ProcessLocality& first) {
    const hwtopo::Locality& p = s.hw_locality;
    const hwtopo::Locality& f = first.hw_locality;
    const auto unit = [](auto index, auto of_first) { return std::pair(index != of_first, index); };
    return std::tuple(unit(s.cluster, first.cluster), unit(s.node, first.node), unit(p.package, f.package),
                      unit(p.numa, f.numa), unit(p.l3, f.l3), unit(p.l2, f.l2), unit(p.core, f.core),
                      unit(p.cpu, f.cpu));
}

// Orders processes so that hardware neighbors are adjacent, and process 0 is the first.
std::vector<int> sort_by_locality(const std::vector<ProcessLocality>& localities, int size) {
    std::vector<int> processes = identity_order(size);
    const auto key = [&](int process) {
        return sort_key(localities[static_cast<size_t>(process)], localities[0]);
    };
    stable_sort(processes, [&](int a, int b) { return key(a) < key(b); });
    return processes;
}

// Group of each process: the outermost hardware level that does not contain all processes.
std::vector<int> groups_of(const std::vector<ProcessLocality>& localities, int size) {
    std::vector<int> groups(static_cast<size_t>(size));
    const auto differ = [&](const auto& group_of) {
        std::transform(localities.begin(), localities.begin() + size, groups.begin(), group_of);
        return std::any_of(groups.begin(), groups.end(), [&](int group) { return group != groups[0]; });
    };
    if (differ([](const ProcessLocality& s) { return s.cluster; }) ||
        differ([](const ProcessLocality& s) { return s.node; }))
        return groups;
    for (const hwtopo::Level level : hwtopo::levels)
        if (differ([level](const ProcessLocality& s) { return int{hwtopo::index_at(s.hw_locality, level)}; }))
            break;
    return groups;
}

// Selects the unassigned rank that communicates most with the assigned ones. Gains only grow, so queue
// entries below the current gain are stale.
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
    void clear() {
        for (; !queue_.empty(); queue_.pop()) gain_[static_cast<size_t>(-queue_.top().second)] = 0;
    }

  private:
    std::vector<int64_t> gain_;
    std::priority_queue<std::pair<int64_t, int>> queue_;
};

// Edges of each rank in both directions.
std::vector<std::vector<CommEdge>> edges_by_rank(int size, const std::vector<CommEdge>& edges) {
    std::vector<std::vector<CommEdge>> of(static_cast<size_t>(size));
    for (const CommEdge& e : edges) {
        if (e.from == e.to) continue;
        of[static_cast<size_t>(e.from)].push_back(e);
        of[static_cast<size_t>(e.to)].push_back({e.to, e.from, e.weight});
    }
    return of;
}

Order greedy_order(const std::vector<ProcessLocality>& localities, int size,
                   const std::vector<CommEdge>& edges) {
    const std::vector<std::vector<CommEdge>> of = edges_by_rank(size, edges);
    const std::vector<int> groups = groups_of(localities, size);
    Order order(static_cast<size_t>(size), -1);
    const auto taken = [&](int rank) { return order[static_cast<size_t>(rank)] >= 0; };
    Gains in_group(order.size());
    Gains in_all(order.size());
    int next_free = 0;
    int group = -1;
    for (const int process : sort_by_locality(localities, size)) {
        const int its_group = groups[static_cast<size_t>(process)];
        if (its_group != group) in_group.clear();
        group = its_group;
        int rank = in_group.best(taken);
        if (rank < 0) rank = in_all.best(taken);
        for (; rank < 0; ++next_free)
            if (!taken(next_free)) rank = next_free;
        order[static_cast<size_t>(rank)] = process;
        for (const CommEdge& e : of[static_cast<size_t>(rank)]) {
            if (taken(e.to)) continue;
            in_group.add(e.to, e.weight);
            in_all.add(e.to, e.weight);
        }
    }
    return order;
}

// Exchanges pairs of ranks while that reduces the cost. Every process of the communicator computes this, so
// it must be fast; weights and distances are integers, so all obtain equal results.
Order refine_order(Order order, const std::vector<ProcessLocality>& localities,
                   const std::vector<CommEdge>& edges) {
    constexpr size_t max_ranks = 128;
    constexpr uint64_t max_evaluations = 200'000; // about a millisecond
    constexpr uint32_t first_movable = 1;         // process 0 keeps rank 0
    if (order.size() > max_ranks) return order;
    mapping::Targets processes;
    processes.capacity.assign(order.size(), 1);
    for (size_t a = 0; a < order.size(); ++a)
        for (size_t b = 0; b < order.size(); ++b)
            processes.distance.push_back(static_cast<double>(distance(localities[a], localities[b])));
    std::vector<mapping::Edge> graph_edges;
    graph_edges.reserve(edges.size());
    for (const CommEdge& e : edges)
        graph_edges.push_back(
            {static_cast<uint32_t>(e.from), static_cast<uint32_t>(e.to), static_cast<double>(e.weight)});
    mapping::Assignment at(order.begin(), order.end());
    mapping::descend({static_cast<uint32_t>(order.size()), std::move(graph_edges)}, processes, at,
                     max_evaluations, first_movable);
    return {at.begin(), at.end()};
}

std::vector<ProcessLocality> node_localities(const Comm& comm) {
    std::vector<ProcessLocality> localities(static_cast<size_t>(comm.team.size));
    for (int r = 0; r < comm.team.size; ++r) {
        const int world = comm.team.map.world(r);
        localities[static_cast<size_t>(r)] = {progress_engine().peers().cluster_of(world),
                                              progress_engine().peers().node_of(world), unknown_locality};
    }
    return localities;
}

} // namespace

Order identity_order(int size) {
    Order order(static_cast<size_t>(size));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

int64_t distance(const ProcessLocality& a, const ProcessLocality& b) {
    constexpr int64_t other_node = 20; // approximate extra cost of a message between nodes
    constexpr int64_t other_cluster = 100;
    if (a.cluster != b.cluster) return other_cluster;
    if (a.node != b.node) return other_node;
    return static_cast<int64_t>(hwtopo::pair_class(a.hw_locality, b.hw_locality));
}

int64_t cost_of(const Order& order, const std::vector<ProcessLocality>& localities,
                const std::vector<CommEdge>& edges) {
    int64_t cost = 0;
    const auto locality = [&](int rank) {
        return localities[static_cast<size_t>(order[static_cast<size_t>(rank)])];
    };
    for (const CommEdge& e : edges) cost += int64_t{e.weight} * distance(locality(e.from), locality(e.to));
    return cost;
}

Order locality_order(const std::vector<ProcessLocality>& localities, int size,
                     const std::vector<CommEdge>& edges) {
    const Order same = identity_order(size);
    Order refined = refine_order(greedy_order(localities, size, edges), localities, edges);
    return cost_of(refined, localities, edges) < cost_of(same, localities, edges) ? refined : same;
}

Err collective_order(Comm& comm, int size, const std::vector<CommEdge>& edges, Order& order) {
    order = identity_order(size);
    if (has_external(comm.team))
        return Err::success; // not all processes have the localities of external ones
    std::vector<hwtopo::Locality> hw_localities(static_cast<size_t>(comm.team.size));
    hwtopo::Locality& own = hw_localities[static_cast<size_t>(comm.team.rank)];
    if (!find_own_locality(own)) own = unknown_locality;
    if (const Err e = proto::coll::allgather(comm.team, hw_localities.data(), sizeof own); e != Err::success)
        return e;
    std::vector<ProcessLocality> localities = node_localities(comm);
    for (size_t r = 0; r < localities.size(); ++r) localities[r].hw_locality = hw_localities[r];
    order = locality_order(localities, size, edges);
    return Err::success;
}

Order local_order(const Comm& comm, int size, const std::vector<CommEdge>& edges) {
    if (has_external(comm.team)) return identity_order(size);
    std::vector<ProcessLocality> localities = node_localities(comm);
    const bool one_host = std::all_of(localities.begin(), localities.end(), [](const ProcessLocality& s) {
        return s.node == progress_engine().peers().node_of(progress_engine().peers().world_rank());
    });
    for (int r = 0; one_host && r < comm.team.size; ++r)
        localities[static_cast<size_t>(r)].hw_locality = locality_of_peer(comm.team.map.world(r));
    return locality_order(localities, size, edges);
}

} // namespace zipmpi::core
