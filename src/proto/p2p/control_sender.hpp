// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// ControlSender: control messages of the protocols (cts, ack, cancel, ...). They never block: what cannot be
// sent now is queued.
#pragma once

#include "proto/p2p/network_port.hpp"
#include "proto/p2p/send_queue.hpp"
#include "transport/shm/shm_transport.hpp"

namespace zipmpi::proto {

class ControlSender {
  public:
    ControlSender(transport::shm::ShmTransport& shm, NetworkPort& network, const PeerDirectory& peers)
        : shm_(shm)
        , network_(network)
        , peers_(peers)
        , queue_(shm.segment().local_ranks()) {}

    [[nodiscard]] SendQueue& queue() { return queue_; }
    [[nodiscard]] const SendQueue& queue() const { return queue_; }
    // Sends or queues a message. `info` goes into the tag field. Within a node, messages have passed between
    // the two ranks, so the ring to the peer exists and no_memory cannot occur.
    void send(transport::Peer peer, wire::MessageKind kind, const void* payload, size_t bytes,
              uint32_t info = 0);
    transport::SendStatus try_send(transport::Peer peer, const wire::Envelope& e, const std::byte* payload,
                                   size_t bytes);
    // Tells a rank on another host that this rank has released a context allocated there, or revoked one.
    void notify_context(int world_rank, wire::MessageKind what, uint32_t context);

  private:
    transport::shm::ShmTransport& shm_;
    NetworkPort& network_;
    const PeerDirectory& peers_;
    SendQueue queue_;
};

} // namespace zipmpi::proto
