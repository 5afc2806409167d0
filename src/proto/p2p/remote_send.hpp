// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RemoteSender: sends to ranks on other hosts. Short messages are sent eagerly. Of long ones the envelope is
// sent first; after matching, the network moves the bytes into the user's buffer.
//
// A send completes when the network has released its buffer and, if it is an eager synchronous send or the
// receiver has asked to hold eager messages, when the receiver has acknowledged it. Operation::events_left
// counts the outstanding events.
#pragma once

#include "proto/p2p/completion.hpp"
#include "proto/p2p/network_port.hpp"
#include "proto/p2p/operation_table.hpp"
#include "proto/p2p/remote_operation.hpp"
#include "proto/p2p/send_queue.hpp"

namespace zipmpi::proto {

class RemoteSender {
  public:
    // bytes_per_poll: eager bytes after which a sender polls for requests to hold.
    RemoteSender(NetworkPort& network, const PeerDirectory& peers, const SendQueue& queue,
                 OperationTable& table, Completion& completion, const EventSink& events,
                 uint64_t bytes_per_poll)
        : network_(network)
        , peers_(peers)
        , queue_(queue)
        , table_(table)
        , completion_(completion)
        , events_(events)
        , bytes_per_poll_(bytes_per_poll) {}

    // ok: the operation is done or waits for events.
    transport::SendStatus try_start(Operation& op);
    // The network has released the buffer of a send.
    void on_sent(Operation& op, transport::OpStatus outcome);
    // The receiver has matched a synchronous send. Without effect if the send awaits no ack: only the network
    // may end its use of the buffer.
    void on_ack(Operation& op);
    // One of the events that a send waits for has happened.
    void count_event(Operation& op);
    [[gnu::cold]] void finish_unreachable(Operation& op);

  private:
    // Whether the sender completes when the message has left, or when it is matched.
    enum class Completes : uint8_t { sent, matched };
    transport::PostStatus post_eager(Operation& op, transport::Peer to, wire::Envelope& e, Completes when);
    [[nodiscard]] bool must_poll(uint64_t bytes);
    transport::PostStatus post_rendezvous(Operation& op, transport::Peer to, wire::Envelope& e);

    NetworkPort& network_;
    const PeerDirectory& peers_;
    const SendQueue& queue_;
    OperationTable& table_;
    Completion& completion_;
    const EventSink& events_;
    uint64_t bytes_per_poll_;
    uint64_t unpolled_bytes_ = 0; // sent eagerly since the network was polled
    uint64_t polls_seen_ = 0;
};

} // namespace zipmpi::proto
