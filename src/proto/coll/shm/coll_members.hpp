// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The members of a collective buffer: who they are, and how sleeping ones are woken.
#pragma once

#include "proto/p2p/progress_engine.hpp"
#include "proto/team.hpp"

#include <atomic>

namespace zipmpi::proto::coll {

class CollMembers {
  public:
    explicit CollMembers(const Team& team);

    [[nodiscard]] int self() const { return self_; }
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] transport::Peer peer(int member) const {
        return static_cast<transport::Peer>(shm_.peer_of(map_.world(member)));
    }
    // Rank of a member in reports.
    [[nodiscard]] int rank_of(int member) const { return ranks_.world(member); }
    [[nodiscard]] int world_rank(int member) const { return map_.world(member); }
    // Wakes all members whose bit is set, and clears the bits.
    void wake(std::atomic<uint64_t>* sleepers) const {
        if (count_ > 64 || sleepers[0].load(std::memory_order_seq_cst) != 0) wake_sleepers(sleepers);
    }

  private:
    void wake_sleepers(std::atomic<uint64_t>* sleepers) const;

    transport::shm::ShmTransport& shm_;
    int self_;
    int count_;
    RankMap map_;   // to ranks in MPI_COMM_WORLD
    RankMap ranks_; // to ranks in reports
};

} // namespace zipmpi::proto::coll
