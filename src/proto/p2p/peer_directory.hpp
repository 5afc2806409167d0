// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// PeerDirectory: where the ranks of MPI_COMM_WORLD and of connected jobs are. Peer indices: first the ranks
// of this node, then the peers of the network in order of connection.
#pragma once

#include "transport/shm/shm_transport.hpp"
#include "wire/external_rank.hpp"

#include <utility>
#include <vector>

namespace zipmpi::proto {

class PeerDirectory {
  public:
    PeerDirectory(const transport::shm::ShmTransport& shm, int world_rank)
        : shm_(shm)
        , local_ranks_(shm.segment().local_ranks())
        , world_rank_(world_rank) {}

    [[nodiscard]] int world_rank() const { return world_rank_; }
    [[nodiscard]] bool on_this_node(int world_rank) const { return shm_.peer_of(world_rank) >= 0; }
    [[nodiscard]] int node_of(int world_rank) const {
        return wire::is_external(world_rank) ? 0 : static_cast<int>(shm_.segment().node_of(world_rank));
    }
    [[nodiscard]] bool is_remote(transport::Peer peer) const { return peer >= local_ranks_; }
    // Between the indices of the engine and those of the network.
    [[nodiscard]] transport::Peer to_network(transport::Peer peer) const { return peer - local_ranks_; }
    [[nodiscard]] transport::Peer from_network(transport::Peer peer) const { return peer + local_ranks_; }

    // Clusters without a common network; by default all nodes are in one cluster.
    void use_clusters(int count, std::vector<int> of_node) {
        clusters_ = count;
        cluster_of_node_ = std::move(of_node);
    }
    [[nodiscard]] int clusters() const { return clusters_; }
    [[nodiscard]] int cluster_of(int world_rank) const {
        return cluster_of_node_.empty() ? 0 : cluster_of_node_[static_cast<size_t>(node_of(world_rank))];
    }
    // From now on members of teams may be processes of other jobs (external ranks).
    void enable_external_ranks() { external_ranks_ = true; }
    [[nodiscard]] bool external_ranks_enabled() const { return external_ranks_; }

  private:
    const transport::shm::ShmTransport& shm_;
    uint32_t local_ranks_;
    int world_rank_;
    bool external_ranks_ = false;
    int clusters_ = 1;
    std::vector<int> cluster_of_node_;
};

} // namespace zipmpi::proto
