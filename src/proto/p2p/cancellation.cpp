// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/cancellation.hpp"

namespace zipmpi::proto {
namespace {

constexpr uint32_t too_late = 1; // tag field of `cancelled`: the message was matched already

} // namespace

void Cancellation::cancel(Operation& op) {
    if (op.complete) return;
    if (op.kind == Operation::Kind::send) return cancel_send(op);
    if (op.kind != Operation::Kind::recv || op.matched_source != any_source) return;
    matcher_.unpost(op);
    completion_.finish_cancelled(op);
}

void Cancellation::cancel_send(Operation& op) {
    SendQueue::QueuedSend queued{};
    if (control_.queue().take_if([&](const SendQueue::QueuedSend& p) { return p.op == &op; }, queued))
        return completion_.finish_cancelled(op);
    if (op.world_peer == peers_.world_rank()) {
        UnexpectedMessage* u = matcher_.unexpected().find_if(
            op.context, [&](const IncomingMessage& m) { return m.local_send == &op; });
        if (u == nullptr) return; // extracted by a matched probe: it will be received
        matcher_.unexpected().discard(*u);
        return completion_.finish_cancelled(op);
    }
    if (op.own_id == 0 || op.cancel != Operation::Cancel::none)
        return; // its data is being sent, or it was canceled before
    op.cancel = Operation::Cancel::requested;
    if (peers_.is_remote(op.transport_peer) && !op.ack_pending) ++op.events_left;
    const wire::Cancel w{op.own_id, op.context};
    control_.send(op.transport_peer, wire::MessageKind::cancel, &w, sizeof w);
}

void Cancellation::on_cancel(const wire::Cancel& request, transport::Peer from) {
    UnexpectedMessage* u = matcher_.unexpected().find_if(request.context, [&](const IncomingMessage& m) {
        return m.local_send == nullptr && m.from == from && sender_operation(m) == request.sender;
    });
    if (u == nullptr) {
        if (peers_.is_remote(from))
            control_.send(from, wire::MessageKind::cancelled, &request, sizeof request, too_late);
        return;
    }
    transport::IncomingBulk* const bulk = u->message.bulk;
    matcher_.unexpected().discard(*u);
    control_.send(from, wire::MessageKind::cancelled, &request, sizeof request);
    if (bulk != nullptr) network_.get()->drop(*bulk); // completes the send
}

void Cancellation::on_cancelled(Operation& op, transport::Peer from, uint32_t outcome) {
    if (op.cancel != Operation::Cancel::requested) return;
    const bool dropped = outcome != too_late;
    op.cancel = Operation::Cancel::answered;
    if (!dropped && op.ack_pending) return; // the ack completes it
    op.ack_pending = false;
    if (peers_.is_remote(from)) {
        op.cancelled = dropped && op.error == Err::success;
        return remote_.count_event(op);
    }
    table_.remove(op);
    completion_.finish_cancelled(op);
}

} // namespace zipmpi::proto
