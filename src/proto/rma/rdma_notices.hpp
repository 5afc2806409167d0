// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fence notifications over RDMA, used by epoch_sync.hpp. An origin that has put into the memory of a target
// since the last fence adds 1 to the target's count of notices, by the device, on the connection of its puts:
// the device executes both in order. A target that has been told how many notices to expect waits until its
// count shows them, and reads no clock and sends no answer.
//
// A device may execute what follows a get before the get has read. So targets of gets and of fetching
// accumulates are flushed instead; the origin does not leave the fence before.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/rdma_connections.hpp"

#include <cstdint>
#include <vector>

namespace zipmpi::proto::rma {

class AmMessenger;
class TargetTable;

class RdmaNotices {
  public:
    RdmaNotices(const TargetTable& targets, RdmaConnections& connections, AmMessenger& messenger)
        : targets_(targets)
        , connections_(connections)
        , messenger_(messenger) {}
    ~RdmaNotices();
    RdmaNotices(const RdmaNotices&) = delete;
    RdmaNotices& operator=(const RdmaNotices&) = delete;

    // Origin: begins to notify or flush all targets of this epoch; returns the notified ranks.
    [[nodiscard]] std::vector<int> begin();
    // Origin: the results of the epoch have arrived.
    [[nodiscard]] bool are_results_complete();
    // Origin: the device no longer uses memory of this process.
    [[nodiscard]] bool are_operations_complete() { return connections_.are_all_flushed(); }

    // Target: `expected` more notices than at the last consume(), or their connections have failed.
    [[nodiscard]] bool have_arrived(uint32_t expected) const;
    void consume(uint32_t expected) { consumed_ += expected; }
    // Target: an origin reports that its connection failed.
    void on_notice_lost() { ++lost_; }

    [[nodiscard]] RdmaContext& context() { return connections_.context(); }

  private:
    class Notice;
    void notify(int rank);

    const TargetTable& targets_;
    RdmaConnections& connections_;
    AmMessenger& messenger_;
    std::vector<Notice*> pending_; // each deletes itself on completion
    std::vector<int> flushed_;     // targets of gets in this epoch
    uint64_t consumed_ = 0;
    uint64_t lost_ = 0;
};

} // namespace zipmpi::proto::rma
