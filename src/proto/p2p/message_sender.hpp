// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MessageSender: starts sends and continues them: to this process, to ranks of this node (eager or by
// rendezvous) and to other hosts.
#pragma once

#include "proto/p2p/control_sender.hpp"
#include "proto/p2p/eager.hpp"
#include "proto/p2p/message_receiver.hpp"
#include "proto/p2p/remote_send.hpp"
#include "proto/p2p/rendezvous_send.hpp"
#include "proto/p2p/traffic_counter.hpp"

namespace zipmpi::proto {

class MessageSender {
  public:
    MessageSender(NodeTransports& node, const PeerDirectory& peers, NetworkPort& network,
                  ControlSender& control, PathPolicy& paths, OperationTable& table, Completion& completion,
                  MessageReceiver& receiver);

    void start(Operation& op);
    // As try_send_eager(), for at most wire::inline_max contiguous bytes; `e` has context, source and tag.
    [[gnu::always_inline]] bool try_send_inline(int world_peer, const wire::Envelope& e,
                                                const std::byte* data, size_t bytes) {
        if (world_peer == peers_.world_rank()) [[unlikely]]
            return false;
        const int local = node_.shm.peer_of(world_peer);
        const auto peer = static_cast<transport::Peer>(local);
        if (local < 0 || !control_.queue().is_open(peer) ||
            !node_.shm.send_rings().try_send_inline(peer, e, data, bytes)) [[unlikely]]
            return false;
        Counters& counters = node_.counters();
        counters.add_owner(Counter::inline_messages);
        traffic_.count_send(counters, peer, world_peer, e.context, bytes);
        return true;
    }
    // As try_send_inline(), for more bytes, up to wire::multislot_max.
    bool try_send_multislot(int world_peer, const wire::Envelope& e, const std::byte* data, size_t bytes);
    // Sends to another rank of this node if the message is short and need not be queued. Returns true if
    // sent. False: nothing was sent.
    bool try_send_eager(const MessageArgs& op) {
        if (op.world_peer == peers_.world_rank()) return false;
        const int local = node_.shm.peer_of(op.world_peer);
        const auto peer = static_cast<transport::Peer>(local);
        if (local < 0 || !control_.queue().is_open(peer) || !paths_.is_eager(op, peer)) return false;
        const wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, op.context, op.source, op.tag, 0};
        if (eager_.send(peer, e, op) != transport::SendStatus::ok) return false;
        traffic_.count_send(node_.counters(), peer, op);
        return true;
    }
    // Retries queued messages, except to failed peers. Returns the number of messages sent.
    template <class Failed>
    int retry_queued(const Failed& failed) {
        SendQueue& queue = control_.queue();
        if (queue.empty()) return 0;
        return queue.retry([&](const SendQueue::QueuedSend& p) {
            if (failed(p.peer)) return transport::SendStatus::would_block; // FaultMonitor ends it
            return p.op != nullptr ? try_start(*p.op)
                                   : control_.try_send(p.peer, p.envelope, p.payload, p.bytes);
        });
    }
    [[nodiscard]] SendQueue& queue() { return control_.queue(); }
    [[nodiscard]] RendezvousSender& rendezvous() { return rendezvous_; }
    [[nodiscard]] RemoteSender& remote() { return remote_; }
    // True if no outgoing message is queued, sent in fragments, or a copy in the skew buffer.
    [[nodiscard]] bool idle() const { return control_.queue().empty() && rendezvous_.idle(); }
    [[nodiscard]] const OperationTable& operations() const { return table_; } // that peers name in messages

  private:
    [[gnu::cold]] [[nodiscard]] bool connect(Operation& op);
    transport::SendStatus try_start(Operation& op);

    NodeTransports& node_;
    const PeerDirectory& peers_;
    NetworkPort& network_;
    ControlSender& control_;
    PathPolicy& paths_;
    OperationTable& table_;
    Completion& completion_;
    MessageReceiver& receiver_;
    TrafficCounter traffic_;
    EagerSender eager_;
    RendezvousSender rendezvous_;
    RemoteSender remote_;
};

} // namespace zipmpi::proto
