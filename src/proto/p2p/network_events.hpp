// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// NetworkEvents: what the network reports to the protocols. Messages of the node go to its dispatcher as
// well.
#pragma once

#include "proto/p2p/dispatcher.hpp"

namespace zipmpi::proto {

class NetworkEvents final : public transport::NetworkListener {
  public:
    NetworkEvents(const PeerDirectory& peers, NetworkPort& network, SendQueue& queue, OperationTable& table,
                  MessageReceiver& receiver, MessageSender& sender, Cancellation& cancellation,
                  Completion& completion)
        : peers_(peers)
        , network_(network)
        , queue_(queue)
        , receiver_(receiver)
        , remote_(sender.remote())
        , completion_(completion)
        , dispatcher_(peers, table, receiver, sender, cancellation) {}

    [[nodiscard]] ArrivalDispatcher& dispatcher() { return dispatcher_; }

    void message_arrived(const transport::Arrival& message) override;
    void rts_arrived(const transport::Arrival& message, transport::IncomingBulk& bytes,
                     uint64_t length) override;
    void send_finished(transport::NetworkOperation* operation, transport::OpStatus outcome) override;
    void fetch_finished(transport::NetworkOperation* operation, transport::OpStatus outcome) override;
    void peer_failed(transport::Peer peer, const char* why) override;
    void connection_lost(transport::Peer peer, const char* why) override;
    void pack(transport::NetworkOperation* operation, uint64_t offset, std::byte* to, size_t bytes) override;
    void unpack(transport::NetworkOperation* operation, uint64_t offset, const std::byte* from,
                size_t bytes) override;
    size_t list_iov(transport::NetworkOperation* operation, iovec* list, size_t most) override;

  private:
    [[nodiscard]] transport::Arrival with_engine_index(const transport::Arrival& a);

    const PeerDirectory& peers_;
    NetworkPort& network_;
    SendQueue& queue_;
    MessageReceiver& receiver_;
    RemoteSender& remote_;
    Completion& completion_;
    ArrivalDispatcher dispatcher_;
};

} // namespace zipmpi::proto
