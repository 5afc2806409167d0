// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A job with any number of virtual ranks in one process. Its ranks execute nothing: the library's own
// selection and algorithms (src/proto/coll) build the schedule of each rank, which is recorded.
//
// All ranks share one progress engine, which starts no message, and one node hierarchy, which is the same on
// all ranks of a node.
#pragma once

#include "rank_program.hpp"

#include "proto/coll/coll.hpp"
#include "proto/coll/hierarchy.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <functional>
#include <memory>

namespace zipmpi::sim {

struct JobShape {
    int ranks = 1;
    int ranks_per_node = 1;
    bool flat = false;         // collectives treat every rank as its own node
    int nodes_per_cluster = 0; // 0: one cluster
    [[nodiscard]] int nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
    [[nodiscard]] int node_of(int rank) const { return rank / ranks_per_node; }
    [[nodiscard]] int cluster_of_node(int node) const {
        return nodes_per_cluster == 0 ? 0 : node / nodes_per_cluster;
    }
    [[nodiscard]] int cluster_of(int rank) const { return cluster_of_node(node_of(rank)); }
    [[nodiscard]] int clusters() const { return cluster_of(ranks - 1) + 1; }
};

// Memory of one rank, in bytes.
struct RankMemory {
    uint64_t hierarchy = 0; // of a communicator
    uint64_t schedule = 0;  // of a call, without data
};

class VirtualJob {
  public:
    // A call of a collective in its nonblocking form.
    using Call = std::function<void(proto::coll::Collective&, proto::Team&)>;

    explicit VirtualJob(const JobShape& shape);
    [[nodiscard]] const JobShape& shape() const { return shape_; }
    // The steps of this rank. Also returns its memory.
    RankProgram record(int rank, const Call& call, RankMemory& memory);

  private:
    void enter_cluster(int cluster);
    void enter_node(int node);
    // Whose hierarchy has the real nodes: the world, or the team of the current cluster.
    [[nodiscard]] proto::Team& team_of_nodes();

    JobShape shape_;
    segment::NodeSegment segment_;
    std::unique_ptr<proto::ProgressEngine> engine_;
    proto::Team world_;
    int node_ = -1; // of the hierarchy of team_of_nodes()
    int cluster_ = -1;
};

// Calls of MPI_COMM_WORLD. The data of all virtual ranks is in the same place.
VirtualJob::Call make_barrier();
VirtualJob::Call make_broadcast(size_t bytes);
VirtualJob::Call make_allreduce(size_t bytes); // of doubles
VirtualJob::Call make_alltoall(size_t block);

} // namespace zipmpi::sim
