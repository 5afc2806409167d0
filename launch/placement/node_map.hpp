// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Map of ranks to nodes: pure functions.
#pragma once

#include "base/diagnostic.hpp"
#include "launch/placement/placement_policy.hpp"
#include "launch/placement/rank_ranges.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::launch {

struct Host {
    std::string name; // as written by the user or the batch system; used only for the launch agent
    uint32_t slots = 1;
    double speed = 1; // of a slot, relative to other hosts
};

struct NodeRun { // consecutive ranks on one node
    uint32_t node = 0;
    uint32_t ranks = 0;
};

class NodeMap {
  public:
    NodeMap() = default;
    explicit NodeMap(std::vector<NodeRun> runs);
    [[nodiscard]] const std::vector<NodeRun>& runs() const { return runs_; }
    [[nodiscard]] uint32_t size() const { return size_; }
    [[nodiscard]] std::vector<uint32_t> ranks_of(uint32_t node) const; // ascending
    [[nodiscard]] RankRanges ranks_of_nodes(uint32_t first, uint32_t end) const;
    [[nodiscard]] uint32_t node_of(uint32_t rank) const; // rank < size()
    // nodes(): nodes that have ranks, ascending. dense(): this map with the nodes numbered by index among
    // these.
    [[nodiscard]] std::vector<uint32_t> nodes() const;
    [[nodiscard]] NodeMap dense() const;
    [[nodiscard]] bool has_ranks(uint32_t first_node, uint32_t end_node) const;
    [[nodiscard]] std::string pmi_text() const; // PMI_process_mapping

  private:
    std::vector<NodeRun> runs_;
    std::vector<uint32_t> first_; // first rank of each run
    uint32_t size_ = 0;
};

enum class MapBy : uint32_t { slot, node };

// If there are ranks and the hosts differ in speed, sets the slots of the hosts to shares of the ranks, which
// may be 0. Returns whether it did.
bool share_by_speed(std::vector<Host>& hosts, uint32_t ranks);

// slot: fill a host before the next one; node: round robin over the hosts. Nodes are numbered like the hosts.
// If there are more ranks than slots, each slot takes several. Hosts of different speeds get shares by speed.
// Hosts without ranks are removed from the list.
NodeMap map_ranks(std::vector<Host>& hosts, uint32_t ranks, MapBy by);

// Maps ranks by a placement policy. Returns false if the ranks do not fit.
bool map_ranks(std::vector<Host>& hosts, uint32_t ranks, const PlacementPolicy& policy, NodeMap& out,
               Diagnostic& why);
MapBy host_map_by(const PlacementPolicy& policy);

} // namespace zipmpi::launch
