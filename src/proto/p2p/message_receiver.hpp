// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MessageReceiver: matches messages with receives and delivers them. Messages from this process, from the
// node and from the network share one matcher.
#pragma once

#include "proto/p2p/network_port.hpp"
#include "proto/p2p/rendezvous_recv.hpp"

namespace zipmpi::proto {

class MessageReceiver {
  public:
    MessageReceiver(NodeTransports& node, EngineLock& lock, NetworkPort& network, ControlSender& control,
                    PathPolicy& paths, OperationTable& table, Completion& completion);
    MessageReceiver(const MessageReceiver&) = delete;
    MessageReceiver& operator=(const MessageReceiver&) = delete;

    void start(Operation& recv);
    // A message has arrived with all its bytes, or another one: delivers or stores it.
    void on_eager(const transport::Arrival& a);
    void on_message(const IncomingMessage& message);
    // Delivers a message to its receive, which has been removed from the matcher.
    void accept(Operation& recv, const IncomingMessage& message);
    // A send of this process to itself: copied once, without a transport.
    void receive_from_self(Operation& send);

    // For reports: an unexpected message that matches except for its tag or communicator, or null.
    [[nodiscard]] const IncomingMessage* near_miss(const Operation& recv) const;
    [[nodiscard]] Matcher& matcher() { return matcher_; }
    [[nodiscard]] const Matcher& matcher() const { return matcher_; }
    [[nodiscard]] RendezvousReceiver& rendezvous() { return rendezvous_; }

  private:
    void begin(Operation& recv, const wire::Envelope& e, transport::Peer from, uint64_t bytes);
    void accept_eager(Operation& recv, const wire::Envelope& e, transport::Peer from, const std::byte* data,
                      uint64_t bytes);
    void store(const IncomingMessage& message);
    void fetch_from_network(Operation& recv, const IncomingMessage& message);

    NodeTransports& node_;
    EngineLock& lock_;
    NetworkPort& network_;
    ControlSender& control_;
    Completion& completion_;
    Matcher matcher_;
    RendezvousReceiver rendezvous_;
    StagingBuffer staging_;
};

} // namespace zipmpi::proto
