// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/message_sender.hpp"

namespace zipmpi::proto {

using transport::SendStatus;

MessageSender::MessageSender(NodeTransports& node, const PeerDirectory& peers, NetworkPort& network,
                             ControlSender& control, PathPolicy& paths, OperationTable& table,
                             Completion& completion, MessageReceiver& receiver)
    : node_(node)
    , peers_(peers)
    , network_(network)
    , control_(control)
    , paths_(paths)
    , table_(table)
    , completion_(completion)
    , receiver_(receiver)
    , traffic_(node.shm.segment(), node.shm.self(), node.events)
    , eager_(node)
    , rendezvous_(node, paths, table, completion)
    , remote_(network, peers, control.queue(), table, completion, node.events,
              receiver.budget().bytes_per_poll()) {}

bool MessageSender::try_send_multislot(int world_peer, const wire::Envelope& e, const std::byte* data,
                                       size_t bytes) {
    const int local = node_.shm.peer_of(world_peer);
    const auto peer = static_cast<transport::Peer>(local);
    if (world_peer == peers_.world_rank() || local < 0 || !control_.queue().is_open(peer) ||
        !node_.shm.send_rings().try_send_multislot(peer, e, data, bytes))
        return false;
    traffic_.count_send(node_.counters(), peer, world_peer, e.context, bytes);
    return true;
}

void MessageSender::start(Operation& op) {
    if (op.world_peer == peers_.world_rank()) {
        traffic_.count_send(node_.counters(), node_.shm.self(), op);
        return receiver_.receive_from_self(op);
    }
    const int local = node_.shm.peer_of(op.world_peer);
    if (local >= 0)
        op.transport_peer = static_cast<transport::Peer>(local);
    else if (!connect(op))
        return remote_.finish_unreachable(op);
    traffic_.count_send(node_.counters(), op.transport_peer, op);
    SendQueue& queue = control_.queue();
    if (!queue.has(op.transport_peer) && try_start(op) != SendStatus::would_block) return;
    queue.push(op);
    node_.events.raise(EventType::send_queued, op.world_peer, op.tag, static_cast<int64_t>(op.bytes));
}

bool MessageSender::connect(Operation& op) {
    if (!network_.connect(op.world_peer, op.transport_peer)) return false;
    control_.queue().add_peer(op.transport_peer);
    traffic_.add_peer(op.transport_peer);
    return true;
}

// Sends the first slot of a message. ok: the operation is done or waits for the peer; no_memory: it was
// finished with an error.
SendStatus MessageSender::try_start(Operation& op) {
    if (peers_.is_remote(op.transport_peer)) return remote_.try_start(op);
    wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, op.context, op.source, op.tag, 0};
    const bool held = control_.queue().is_held(op.transport_peer) && !table_.full();
    if (held && op.bytes > wire::multislot_max) return rendezvous_.start_held(op, e);
    if (!paths_.is_eager(op, op.transport_peer)) return rendezvous_.start(op, e);
    const bool needs_ack = op.synchronous || held;
    if (needs_ack) {
        e.flags = wire::flag_synchronous | op.round_flags;
        e.sync_id = table_.add(op);
        if (e.sync_id == 0) return SendStatus::would_block; // the table is full
    }
    const SendStatus sent = eager_.send(op.transport_peer, e, op);
    if (needs_ack && sent != SendStatus::ok) table_.remove(op);
    if (sent == SendStatus::no_memory) completion_.finish_without_memory(op);
    if (sent == SendStatus::ok && !needs_ack) completion_.finish(op);
    return sent;
}

} // namespace zipmpi::proto
