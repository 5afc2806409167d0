// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// FaultMonitor: processes fault notifications, and fails operations that can no longer complete: their peer
// has failed, their communicator is revoked, or they belong to a collective with a failed member. Sends whose
// envelope has reached a live peer are canceled first (cancellation.hpp), since that peer may be about to
// read their buffer.
#pragma once

#include "proto/p2p/cancellation.hpp"
#include "proto/p2p/fault_table.hpp"

namespace zipmpi::proto {

class FaultMonitor {
  public:
    FaultMonitor(NodeTransports& node, const PeerDirectory& peers, NetworkPort& network, SendQueue& queue,
                 OperationTable& table, MessageReceiver& receiver, RendezvousSender& rendezvous,
                 Cancellation& cancellation, Completion& completion)
        : node_(node)
        , peers_(peers)
        , network_(network)
        , queue_(queue)
        , operations_(table)
        , receiver_(receiver)
        , rendezvous_(rendezvous)
        , cancellation_(cancellation)
        , completion_(completion)
        , generation_(node.shm.segment().faults().state().generation) {}

    // Called by waiting ranks. Returns the number of events; a new notification counts as one.
    int poll() {
        const bool same = generation_.load(std::memory_order_seq_cst) == table_.generation;
        return same && !table_.any ? 0 : process();
    }
    [[nodiscard]] FaultTable& table() { return table_; }
    [[nodiscard]] bool any() const { return table_.any; }
    // Success, or why this communicator, or its collectives, can no longer be used.
    [[nodiscard]] Err comm_failure(uint32_t context) const {
        return table_.any ? find_comm_failure(context) : Err::success;
    }
    // Success, or why no more messages can arrive from this rank on this communicator.
    [[nodiscard]] Err source_failure(uint32_t context, int source, int world_source) const {
        return table_.any ? find_source_failure(context, source, world_source) : Err::success;
    }
    [[nodiscard]] bool is_failed(transport::Peer peer) const { return table_.any && is_in_table(peer); }
    // An external rank has failed or is permanently unreachable.
    void fail_external(int world_rank);

  private:
    [[gnu::cold]] int process();
    [[gnu::cold]] [[nodiscard]] Err find_comm_failure(uint32_t context) const;
    [[gnu::cold]] [[nodiscard]] Err find_source_failure(uint32_t context, int source, int world_source) const;
    [[nodiscard]] int rank_of(transport::Peer peer) const;
    [[nodiscard]] bool is_in_table(transport::Peer peer) const;
    [[nodiscard]] Err failure_of(const Operation& op) const;
    void fail_peer(int world_rank);
    int fail_queued();
    int fail_posted();
    int fail_awaiting_reply();
    int fail_pipelined();
    int fail_self_sends();

    NodeTransports& node_;
    const PeerDirectory& peers_;
    NetworkPort& network_;
    SendQueue& queue_;
    OperationTable& operations_;
    MessageReceiver& receiver_;
    RendezvousSender& rendezvous_;
    Cancellation& cancellation_;
    Completion& completion_;
    const std::atomic<uint32_t>& generation_; // in the segment
    FaultTable table_;
};

} // namespace zipmpi::proto
