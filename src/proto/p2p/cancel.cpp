// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Matched probes (extract) and cancellation.
//
// A receive is canceled locally, and so is a send that is queued for space in a ring or waits for a receive
// of this process. For a send whose envelope has left, the receiver gets a `cancel`. It replies `cancelled`
// if the message is unmatched; otherwise the cts or ack that is due completes the send normally.
//
// The network completes a long send identically whether the receiver fetched or dropped the data, before or
// after the receiver's reply. So a receiver on another host always replies, and a canceled send waits for the
// reply too.
#include "proto/p2p/progress_engine.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {
namespace {

// The sender's operation of an unexpected message; 0: the sender does not wait for a reply.
wire::OperationId sender_operation(const IncomingMessage& m) {
    if (m.envelope.kind == wire::MessageKind::rts) return m.sender;
    return (m.envelope.flags & wire::flag_synchronous) != 0 ? m.envelope.sync_id : 0;
}

constexpr uint32_t too_late = 1; // tag field of `cancelled`: the message was matched already

bool read_cancel(const transport::Arrival& a, wire::Cancel& w) {
    if (a.envelope.inline_bytes != sizeof w) return false;
    std::memcpy(&w, a.payload, sizeof w);
    return w.sender != 0;
}

} // namespace

UnexpectedMessage* ProgressEngine::extract(uint32_t context, int source, int tag) {
    UnexpectedMessage* u = matcher_.find_unexpected(context, source, tag);
    if (u != nullptr) matcher_.extract(*u);
    return u;
}

void ProgressEngine::recv_extracted(Operation& op, UnexpectedMessage& message) {
    accept(op, message.message);
    matcher_.release(message);
}

void ProgressEngine::drop_unexpected(uint32_t context) {
    shm_.poll_all(
        [this](const transport::Arrival& a) { handle_arrival(a); }); // also messages that are still in a ring
    matcher_.discard_if(context, [](const IncomingMessage& m) {
        return m.local_send == nullptr && sender_operation(m) == 0;
    });
}

void ProgressEngine::cancel(Operation& op) {
    if (op.complete) return;
    if (op.kind == Operation::Kind::send) return cancel_send(op);
    if (op.kind != Operation::Kind::recv || op.matched_source != any_source) return;
    matcher_.unpost(op);
    finish_cancelled(op);
}

void ProgressEngine::finish_cancelled(Operation& op) {
    op.cancelled = op.error == Err::success; // else it failed
    finish(op);
}

void ProgressEngine::cancel_send(Operation& op) {
    const auto waiting =
        std::find_if(pending_.begin(), pending_.end(), [&](const QueuedSend& p) { return p.op == &op; });
    if (waiting != pending_.end()) {
        --pending_of_peer_[waiting->peer];
        pending_.erase(waiting);
        return finish_cancelled(op);
    }
    if (op.world_peer == world_rank_) {
        UnexpectedMessage* u =
            matcher_.find_if(op.context, [&](const IncomingMessage& m) { return m.local_send == &op; });
        if (u == nullptr) return; // extracted by a matched probe: it will be received
        matcher_.discard(*u);
        return finish_cancelled(op);
    }
    if (op.own_id == 0 || op.cancel_pending) return; // its data is being sent, or it was canceled before
    op.cancel_pending = true;
    if (is_remote(op.transport_peer) && !op.ack_pending) ++op.expected;
    const wire::Cancel w{op.own_id, op.context};
    send_control(op.transport_peer, wire::MessageKind::cancel, &w, sizeof w);
}

void ProgressEngine::on_cancel(const transport::Arrival& a) {
    wire::Cancel w{};
    if (!read_cancel(a, w)) return;
    UnexpectedMessage* u = matcher_.find_if(w.context, [&](const IncomingMessage& m) {
        return m.local_send == nullptr && m.from == a.from && sender_operation(m) == w.sender;
    });
    if (u == nullptr) {
        if (is_remote(a.from)) send_control(a.from, wire::MessageKind::cancelled, &w, sizeof w, too_late);
        return;
    }
    transport::IncomingBulk* const bulk = u->message.bulk;
    matcher_.discard(*u);
    send_control(a.from, wire::MessageKind::cancelled, &w, sizeof w);
    if (bulk != nullptr) network_->drop(*bulk); // completes the send
}

void ProgressEngine::on_cancelled(const transport::Arrival& a) {
    wire::Cancel w{};
    if (!read_cancel(a, w)) return;
    Operation* op = find_peer_operation(a, w.sender, Operation::Kind::send);
    if (op == nullptr || !op->cancel_pending) return;
    const bool dropped = static_cast<uint32_t>(a.envelope.tag) != too_late;
    if (!dropped && op->ack_pending) return; // the ack completes it
    if (is_remote(a.from)) {
        op->cancelled = dropped && op->error == Err::success;
        return complete_send_event(*op);
    }
    table_.remove(*op);
    finish_cancelled(*op);
}

} // namespace zipmpi::proto
