// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks are on which node: pure functions.
#pragma once

#include "base/problem.hpp"
#include "launch/map/policy.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::launch {

struct Host {
    std::string
        name; // as the user or the batch system wrote it; given to the launch agent and to nobody else
    uint32_t slots = 1;
};

struct NodeRun { // the next ranks are on this node
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
    [[nodiscard]] uint32_t node_of(uint32_t rank) const;               // rank < size()
    // Nodes that have ranks, ascending; dense(): the same map with nodes numbered by their place among these.
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

// slot: a host is filled before the next one gets ranks; node: the hosts get ranks in turn. Nodes are
// numbered like the hosts. More ranks than slots: every slot takes as many ranks as it must. Hosts that get
// no rank are removed from the list.
NodeMap map_ranks(std::vector<Host>& hosts, uint32_t ranks, MapBy by);

// The same for all that a policy can say of hosts. False: the ranks do not fit it.
bool map_ranks(std::vector<Host>& hosts, uint32_t ranks, const PlacementPolicy& policy, NodeMap& out,
               Problem& why);
MapBy hosts_by(const PlacementPolicy& policy);

} // namespace zipmpi::launch
