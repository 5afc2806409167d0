// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/hierarchy.hpp"

#include "base/param.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <algorithm>

namespace zipmpi::proto {

template <>
void TeamLocal<coll::Hierarchy>::reset() noexcept {
    delete value_;
    value_ = nullptr;
}

namespace coll {
namespace {

Param<int64_t> debug_nodes{"coll.debug_nodes",
                           0,
                           {-1000000, 1000000},
                           Unit::none,
                           Level::developer,
                           Scope::job_wide,
                           "testing: collectives treat every N consecutive ranks as one node; -N: N nodes, "
                           "assigned cyclically; 0: actual nodes"};
Param<int64_t> debug_clusters{
    "coll.debug_clusters",
    0,
    {-1000000, 1000000},
    Unit::none,
    Level::developer,
    Scope::job_wide,
    "testing: collectives treat every N consecutive ranks as one cluster; -N: N clusters, "
    "assigned cyclically; 0: actual clusters"};
Param<bool> use_hierarchy{
    "coll.hierarchical", true, Level::tuner, Scope::job_wide,
    "use intra-node and inter-node phases in collectives of several nodes; no: treat every "
    "rank as its own node"};

int debug_group(int n, int world_rank) { return n < 0 ? world_rank % -n : world_rank / n; }

bool has_multiple_clusters(ProgressEngine& engine) {
    return debug_clusters.get() != 0 || engine.peers().clusters() > 1;
}

int cluster_id(const ProgressEngine& engine, int world_rank) {
    const auto n = static_cast<int>(debug_clusters.get());
    return n == 0 ? engine.peers().cluster_of(world_rank) : debug_group(n, world_rank);
}

bool has_multiple_nodes(ProgressEngine& engine) {
    return debug_nodes.get() != 0 || engine.shm().segment().nodes() > 1;
}

int node_id(const ProgressEngine& engine, int world_rank) {
    const auto n = static_cast<int>(debug_nodes.get());
    return n == 0 ? engine.peers().node_of(world_rank) : debug_group(n, world_rank);
}

// The given ranks of a team, as a team.
Team make_subteam(const Team& whole, Team::TeamScope scope, int rank, std::vector<int> ranks) {
    Team t;
    t.engine = whole.engine;
    t.context = whole.context;
    t.rank = rank;
    t.size = static_cast<int>(ranks.size());
    t.scope = scope;
    std::vector<int> world;
    world.reserve(ranks.size());
    for (const int rank_in_team : ranks) world.push_back(whole.map.world(rank_in_team));
    if (whole.scope != Team::TeamScope::whole) // subteam of a subteam
        for (int& rank_in_team : ranks) rank_in_team = whole.parent_ranks.world(rank_in_team);
    t.map = RankMap(std::make_shared<const std::vector<int>>(std::move(world)));
    t.parent_ranks = RankMap(std::make_shared<const std::vector<int>>(std::move(ranks)));
    return t;
}

NodePartition partition_by(const Team& t, int (*id)(const ProgressEngine& engine, int world_rank)) {
    std::vector<int> ids;
    ids.reserve(static_cast<size_t>(t.size));
    for (int r = 0; r < t.size; ++r) ids.push_back(id(*t.engine, t.map.world(r)));
    return NodePartition(ids);
}

void build_hierarchy(const Team& t, Hierarchy& l) {
    NodePartition nodes;
    if (has_external(t)) { // node ids of external ranks are unknown, and all members need the same partition
        l.placement = TeamPlacement::one_per_node;
        return;
    }
    if (t.scope == Team::TeamScope::whole && has_multiple_clusters(*t.engine))
        nodes = partition_by(t, cluster_id);
    l.nodes_are_clusters = nodes.count() > 1;
    if (!l.nodes_are_clusters) nodes = partition_by(t, node_id);
    l.placement = nodes.count() <= 1 ? TeamPlacement::single_node
                  : (nodes.count() == t.size || !use_hierarchy) && !l.nodes_are_clusters
                      ? TeamPlacement::one_per_node
                      : TeamPlacement::mixed;
    if (l.placement != TeamPlacement::mixed) return;
    l.my_node = nodes.node_of(t.rank);
    std::vector<int> ranks;
    ranks.reserve(static_cast<size_t>(nodes.size_of(l.my_node)));
    for (int i = 0; i < nodes.size_of(l.my_node); ++i) ranks.push_back(nodes.member(l.my_node, i));
    l.node = make_subteam(t, l.nodes_are_clusters ? Team::TeamScope::cluster : Team::TeamScope::node,
                          nodes.local_rank_of(t.rank), std::move(ranks));
    l.nodes = std::move(nodes);
}

} // namespace

NodePartition::NodePartition(std::span<const int> node_ids) {
    std::vector<int> number; // by id; -1: not seen yet
    std::vector<int> numbers;
    std::vector<int> sizes;
    for (const int id : node_ids) {
        if (at(id) >= number.size()) number.resize(at(id) + 1, -1);
        int& n = number[at(id)];
        if (n < 0) {
            n = static_cast<int>(sizes.size());
            sizes.push_back(0);
        }
        numbers.push_back(n);
        ++sizes[at(n)];
    }
    for (const int size : sizes) first_.push_back(first_.back() + size);
    for (const int size : sizes) largest_ = std::max(largest_, size);
    if (std::ranges::is_sorted(numbers)) return;
    members_.resize(numbers.size());
    std::vector<int> next = first_;
    for (size_t r = 0; r < numbers.size(); ++r) members_[at(next[at(numbers[r])]++)] = static_cast<int>(r);
    node_of_ = std::move(numbers);
}

int NodePartition::node_of(int rank) const {
    if (!is_contiguous()) return node_of_[at(rank)];
    return static_cast<int>(std::ranges::upper_bound(first_, rank) - first_.begin()) - 1;
}

int NodePartition::local_rank_of(int rank) const {
    const int node = node_of(rank);
    if (is_contiguous()) return rank - first_rank(node);
    const auto begin = members_.begin() + first_rank(node);
    return static_cast<int>(std::lower_bound(begin, begin + size_of(node), rank) - begin);
}

Team Hierarchy::cross_node_team(const Team& whole, int local_rank, int instead) const {
    const int exception = instead >= 0 ? nodes.node_of(instead) : -1;
    std::vector<int> ranks;
    ranks.reserve(static_cast<size_t>(nodes.count()));
    for (int n = 0; n < nodes.count(); ++n)
        ranks.push_back(n == exception
                            ? instead
                            : nodes.member(n, local_rank < 0 ? nodes.size_of(n) + local_rank : local_rank));
    return make_subteam(whole,
                        nodes_are_clusters ? Team::TeamScope::across_clusters : Team::TeamScope::across_nodes,
                        my_node, std::move(ranks));
}

TeamPlacement placement_of(Team& t) {
    if (t.scope != Team::TeamScope::whole && t.scope != Team::TeamScope::cluster)
        return t.scope == Team::TeamScope::node ? TeamPlacement::single_node : TeamPlacement::one_per_node;
    if (!t.engine->peers().external_ranks_enabled() && !has_multiple_nodes(*t.engine) &&
        (t.scope == Team::TeamScope::cluster || !has_multiple_clusters(*t.engine)))
        return TeamPlacement::single_node;
    if (t.hierarchy.get() == nullptr) {
        t.hierarchy.set(new Hierarchy);
        build_hierarchy(t, *t.hierarchy.get());
    }
    return t.hierarchy.get()->placement;
}

Hierarchy* hierarchy_of(Team& t) {
    if (placement_of(t) != TeamPlacement::mixed) return nullptr;
    Hierarchy* l = t.hierarchy.get();
    l->node.collectives = t.collectives;
    return l;
}

} // namespace coll
} // namespace zipmpi::proto
