// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The nodes on which the members of a team live, and the parts of the team that collectives on two levels
// (two_level/) work with: the members on this node, and teams of one member per node. A team in several
// clusters has clusters in place of nodes; its part in one cluster has nodes again.
//
// Threads: under the lane's lock.
#pragma once

#include "proto/team.hpp"

#include <span>
#include <vector>

namespace zipmpi::proto::coll {

// Which member is on which node; the same picture on all members. Nodes are numbered in the order of their
// first members. Where the ranks of a node follow each other this takes one number per node.
class Nodes {
  public:
    Nodes() = default;
    explicit Nodes(std::span<const int> node_ids); // by rank: any numbers from 0 on

    [[nodiscard]] int count() const { return static_cast<int>(first_.size()) - 1; }
    // Ranks of a node follow each other, so that combining node by node keeps the order of ranks.
    [[nodiscard]] bool grouped() const { return members_.empty(); }
    [[nodiscard]] bool same_size() const { return largest_ * count() == first_.back(); }
    [[nodiscard]] int largest() const { return largest_; } // members on a node
    [[nodiscard]] int size_of(int node) const { return first_[at(node) + 1] - first_[at(node)]; }
    [[nodiscard]] int member(int node, int place) const {
        const int i = first_[at(node)] + place;
        return grouped() ? i : members_[at(i)];
    }
    // If grouped: the rank before which this node begins; for node count(): the number of ranks.
    [[nodiscard]] int first(int node) const { return first_[at(node)]; }
    [[nodiscard]] int node_of(int rank) const;
    [[nodiscard]] int place_of(int rank) const; // among the members on its node

  private:
    static size_t at(int i) { return static_cast<size_t>(i); }

    std::vector<int> first_{0}; // by node: how many members are on nodes before it
    std::vector<int> members_;  // ranks node by node; empty: all in order
    std::vector<int> node_of_;  // by rank; empty: as first_ says
    int largest_ = 0;
};

enum class Spread : uint8_t { one_node, one_each, mixed };

struct Levels {
    Spread spread = Spread::one_node;
    // the following for mixed ones
    Nodes nodes;
    bool clusters = false; // what is called a node here is a cluster
    int my_node = 0;
    Team node; // the members on this node, by place; may have boards

    [[nodiscard]] int place() const { return node.rank; }
    [[nodiscard]] int nodes_count() const { return nodes.count(); }
    // One member of each node, by number of node: those at this place (from the end on if negative), but on
    // the node of `instead` that rank. Only for who is in it.
    [[nodiscard]] Team across(const Team& whole, int place, int instead = -1) const;
};

// Where members are; found out on first use.
Spread spread_of(Team& t);
// The levels of a team that has two: several nodes, and several members on one of them. Else null.
Levels* levels_of(Team& t);

} // namespace zipmpi::proto::coll
