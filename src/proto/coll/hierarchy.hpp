// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Node hierarchy of a team, as used by the hierarchical collectives (hierarchical/): the partition of the
// members into nodes, the team of the members on this node, and teams of one member per node. In a team that
// spans clusters, clusters take the role of nodes; the subteam within one cluster has nodes again.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/team.hpp"

#include <span>
#include <vector>

namespace zipmpi::proto::coll {

// Partition of the members of a team into nodes, identical on all members. Nodes are numbered in the order
// of their first members. Stores one number per node if the ranks of every node are consecutive.
class NodePartition {
  public:
    NodePartition() = default;
    explicit NodePartition(std::span<const int> node_ids); // by rank: node ids, 0 or greater

    [[nodiscard]] int count() const { return static_cast<int>(first_.size()) - 1; }
    // The ranks of every node are consecutive, so that reducing node by node preserves rank order.
    [[nodiscard]] bool is_contiguous() const { return members_.empty(); }
    [[nodiscard]] bool is_uniform() const { return largest_ * count() == first_.back(); }
    [[nodiscard]] int largest() const { return largest_; } // members of the largest node
    [[nodiscard]] int size_of(int node) const { return first_[at(node) + 1] - first_[at(node)]; }
    [[nodiscard]] int member(int node, int local_rank) const {
        const int i = first_[at(node)] + local_rank;
        return is_contiguous() ? i : members_[at(i)];
    }
    // If contiguous: the first rank of the node; for node count(): the number of ranks.
    [[nodiscard]] int first_rank(int node) const { return first_[at(node)]; }
    [[nodiscard]] int node_of(int rank) const;
    [[nodiscard]] int local_rank_of(int rank) const; // among the members on its node

  private:
    static size_t at(int i) { return static_cast<size_t>(i); }

    std::vector<int> first_{0}; // by node: number of members on lower nodes
    std::vector<int> members_;  // ranks sorted by node; empty if contiguous
    std::vector<int> node_of_;  // by rank; empty if contiguous
    int largest_ = 0;
};

enum class TeamPlacement : uint8_t { single_node, one_per_node, mixed };

struct Hierarchy {
    TeamPlacement placement = TeamPlacement::single_node;
    // valid only if placement is mixed:
    NodePartition nodes;
    bool nodes_are_clusters = false; // the nodes of this hierarchy are clusters
    int my_node = 0;
    Team node; // the members on this node; may have collective buffers

    [[nodiscard]] int local_rank() const { return node.rank; }
    [[nodiscard]] int node_count() const { return nodes.count(); }
    // Team of one member per node, ordered by node: the member with this local rank (negative: counted from
    // the end), except that `instead` represents its node. Only members of that team may call it.
    [[nodiscard]] Team cross_node_team(const Team& whole, int local_rank, int instead = -1) const;
};

// Computed on first use.
TeamPlacement placement_of(Team& t);
// The hierarchy of a team with several nodes and more than one member on at least one of them; else null.
Hierarchy* hierarchy_of(Team& t);

} // namespace zipmpi::proto::coll
