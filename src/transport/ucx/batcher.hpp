// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Short nonblocking sends in a row share one UCX message: over TCP each UCX message is a system call, which
// takes longer than a short message. The first few of a burst are sent immediately; the others when the batch
// is full, when another message goes to the same peer, or at the next progress call, which precedes any test
// for completion.
#pragma once

#include "transport/ucx/peer_table.hpp"
#include "transport/ucx/send_requests.hpp"

namespace zipmpi::transport::ucx {

class Batcher {
  public:
    Batcher(PeerTable& peers, SendRequests& requests, NetworkListener& listener, PollCounters& counters)
        : peers_(peers)
        , requests_(requests)
        , listener_(listener)
        , counters_(counters) {}

    // Copies a message to the batch of its peer. Returns false if it must be sent by itself.
    bool batch(PeerState& to, const wire::Envelope& envelope, const std::byte* payload,
               const BufferRef& data);
    void send_batch(PeerState& to); // the peer must have an open batch
    void flush();

  private:
    bool may_batch(PeerState& to, const BufferRef& data);

    PeerTable& peers_;
    SendRequests& requests_;
    NetworkListener& listener_;
    PollCounters& counters_;
    std::vector<Peer> waiting_;                // with an open batch
    std::vector<NetworkOperation*> spare_ops_; // memory for the next batch
};

} // namespace zipmpi::transport::ucx
