// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/levels.hpp"

#include "base/param.hpp"
#include "proto/p2p/lane.hpp"

#include <algorithm>

namespace zipmpi::proto {

template <>
void OfOneTeam<coll::Levels>::reset() noexcept {
    delete made_;
    made_ = nullptr;
}

namespace coll {
namespace {

Param<int64_t> assumed{"coll.assumed_nodes",
                       0,
                       {-1000000, 1000000},
                       Unit::none,
                       Level::developer,
                       Scope::all_equal,
                       "for tests on one host: so many neighbouring ranks count as a node of their own in "
                       "collectives; if negative, ranks are dealt out to so many nodes; 0: as it is"};
Param<int64_t> assumed_clusters{"coll.assumed_clusters",
                                0,
                                {-1000000, 1000000},
                                Unit::none,
                                Level::developer,
                                Scope::all_equal,
                                "for tests on one host: so many neighbouring ranks count as a cluster of "
                                "their own in collectives; if negative, ranks are dealt out to so many "
                                "clusters; 0: as it is"};
Param<bool> two_levels{"coll.two_levels", true, Level::tuner, Scope::all_equal,
                       "collectives of ranks on several nodes work within the nodes first and then between "
                       "them; no: as if each rank had a node of its own"};

int assumed_part(int n, int world_rank) { return n < 0 ? world_rank % -n : world_rank / n; }

bool several_clusters(Lane& lane) { return assumed_clusters.get() != 0 || lane.clusters() > 1; }

int cluster_id(const Lane& lane, int world_rank) {
    const auto n = static_cast<int>(assumed_clusters.get());
    return n == 0 ? lane.cluster_of(world_rank) : assumed_part(n, world_rank);
}

bool several_nodes(Lane& lane) { return assumed.get() != 0 || lane.shm().segment().nodes() > 1; }

int node_id(const Lane& lane, int world_rank) {
    const auto n = static_cast<int>(assumed.get());
    return n == 0 ? lane.node_of(world_rank) : assumed_part(n, world_rank);
}

// Ranks `names` of a team, as a team.
Team part_of(const Team& whole, Team::Part part, int rank, std::vector<int> names) {
    Team t;
    t.lane = whole.lane;
    t.context = whole.context;
    t.rank = rank;
    t.size = static_cast<int>(names.size());
    t.part = part;
    std::vector<int> world;
    world.reserve(names.size());
    for (const int name : names) world.push_back(whole.map.world(name));
    if (whole.part != Team::Part::whole) // of a part of a part
        for (int& name : names) name = whole.in_whole.world(name);
    t.map = RankMap(std::make_shared<const std::vector<int>>(std::move(world)));
    t.in_whole = RankMap(std::make_shared<const std::vector<int>>(std::move(names)));
    return t;
}

Nodes nodes_by(const Team& t, int (*id)(const Lane& lane, int world_rank)) {
    std::vector<int> ids;
    ids.reserve(static_cast<size_t>(t.size));
    for (int r = 0; r < t.size; ++r) ids.push_back(id(*t.lane, t.map.world(r)));
    return Nodes(ids);
}

void find_levels(const Team& t, Levels& l) {
    Nodes nodes;
    if (has_foreign(t)) { // each side knows its own nodes only, and all members must see the same picture
        l.spread = Spread::one_each;
        return;
    }
    if (t.part == Team::Part::whole && several_clusters(*t.lane)) nodes = nodes_by(t, cluster_id);
    l.clusters = nodes.count() > 1;
    if (!l.clusters) nodes = nodes_by(t, node_id);
    l.spread = nodes.count() <= 1                                        ? Spread::one_node
               : (nodes.count() == t.size || !two_levels) && !l.clusters ? Spread::one_each
                                                                         : Spread::mixed;
    if (l.spread != Spread::mixed) return;
    l.my_node = nodes.node_of(t.rank);
    std::vector<int> names;
    names.reserve(static_cast<size_t>(nodes.size_of(l.my_node)));
    for (int i = 0; i < nodes.size_of(l.my_node); ++i) names.push_back(nodes.member(l.my_node, i));
    l.node = part_of(t, l.clusters ? Team::Part::cluster : Team::Part::node, nodes.place_of(t.rank),
                     std::move(names));
    l.nodes = std::move(nodes);
}

} // namespace

Nodes::Nodes(std::span<const int> node_ids) {
    std::vector<int> number; // by id, -1: not seen
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

int Nodes::node_of(int rank) const {
    if (!grouped()) return node_of_[at(rank)];
    return static_cast<int>(std::ranges::upper_bound(first_, rank) - first_.begin()) - 1;
}

int Nodes::place_of(int rank) const {
    const int node = node_of(rank);
    if (grouped()) return rank - first(node);
    const auto begin = members_.begin() + first(node);
    return static_cast<int>(std::lower_bound(begin, begin + size_of(node), rank) - begin);
}

Team Levels::across(const Team& whole, int place, int instead) const {
    const int exception = instead >= 0 ? nodes.node_of(instead) : -1;
    std::vector<int> names;
    names.reserve(static_cast<size_t>(nodes.count()));
    for (int n = 0; n < nodes.count(); ++n)
        names.push_back(n == exception ? instead
                                       : nodes.member(n, place < 0 ? nodes.size_of(n) + place : place));
    return part_of(whole, clusters ? Team::Part::across_clusters : Team::Part::across, my_node,
                   std::move(names));
}

Spread spread_of(Team& t) {
    if (t.part != Team::Part::whole && t.part != Team::Part::cluster)
        return t.part == Team::Part::node ? Spread::one_node : Spread::one_each;
    if (!t.lane->expects_foreign() && !several_nodes(*t.lane) &&
        (t.part == Team::Part::cluster || !several_clusters(*t.lane)))
        return Spread::one_node;
    if (t.levels.get() == nullptr) {
        t.levels.set(new Levels);
        find_levels(t, *t.levels.get());
    }
    return t.levels.get()->spread;
}

Levels* levels_of(Team& t) {
    if (spread_of(t) != Spread::mixed) return nullptr;
    Levels* l = t.levels.get();
    l->node.collectives = t.collectives;
    return l;
}

} // namespace coll
} // namespace zipmpi::proto
