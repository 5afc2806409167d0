// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations that do not go the usual way: messages taken out of matching, and cancelled operations.
//
// A receive is cancelled here alone. A send is too while it waits for room in a ring, or for a receive of the
// same process. One whose envelope has left is asked back from the receiver, who answers if the message still
// lies unmatched; otherwise the answer that the send waits for anyway (cts, ack) comes and it ends as usual.
//
// The network ends a long send by itself, in the same way whether its receiver has taken the bytes or dropped
// them, and at any time before or after the receiver's words. So a receiver on another host always answers,
// and a send that was asked back waits for that as well.
#include "proto/p2p/lane.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {
namespace {

// The operation of the sender that a waiting message belongs to; 0: the sender waits for nothing.
wire::OperationId operation_behind(const Incoming& m) {
    if (m.envelope.kind == wire::Kind::rts) return m.sender;
    return (m.envelope.flags & wire::flag_synchronous) != 0 ? m.envelope.sync_id : 0;
}

constexpr uint32_t too_late = 1; // note on a `withdrawn`: the message is not there any more

bool read_withdraw(const transport::Arrival& a, wire::Withdraw& w) {
    if (a.envelope.inline_bytes != sizeof w) return false;
    std::memcpy(&w, a.payload, sizeof w);
    return w.sender != 0;
}

} // namespace

Unexpected* Lane::take(uint32_t context, int source, int tag) {
    Unexpected* u = matcher_.find_unexpected(context, source, tag);
    if (u != nullptr) matcher_.take(*u);
    return u;
}

void Lane::receive_taken(Operation& op, Unexpected& message) {
    accept(op, message.message);
    matcher_.release(message);
}

void Lane::drop_messages(uint32_t context) {
    shm_.read_all([this](const transport::Arrival& a) { arrived(a); }); // some may lie in a ring unread
    matcher_.discard_if(context,
                        [](const Incoming& m) { return m.local == nullptr && operation_behind(m) == 0; });
}

void Lane::cancel(Operation& op) {
    if (op.complete) return;
    if (op.kind == Operation::Kind::send) return cancel_send(op);
    if (op.kind != Operation::Kind::recv || op.matched_source != any_source) return;
    matcher_.withdraw(op);
    finish_cancelled(op);
}

void Lane::finish_cancelled(Operation& op) {
    op.cancelled = op.error == Err::success; // else it was hopeless
    finish(op);
}

void Lane::cancel_send(Operation& op) {
    const auto waiting =
        std::find_if(pending_.begin(), pending_.end(), [&](const Pending& p) { return p.op == &op; });
    if (waiting != pending_.end()) {
        --pending_of_peer_[waiting->peer];
        pending_.erase(waiting);
        return finish_cancelled(op);
    }
    if (op.world_peer == world_rank_) {
        Unexpected* u = matcher_.find_if(op.context, [&](const Incoming& m) { return m.local == &op; });
        if (u == nullptr) return; // mprobed: it will be received
        matcher_.discard(*u);
        return finish_cancelled(op);
    }
    if (op.own_id == 0 || op.asked_back) return; // its bytes are on their way
    op.asked_back = true;
    if (is_remote(op.transport_peer) && !op.awaits_ack) ++op.wanted;
    const wire::Withdraw w{op.own_id, op.context};
    post_line(op.transport_peer, wire::Kind::withdraw, &w, sizeof w);
}

void Lane::take_withdraw(const transport::Arrival& a) {
    wire::Withdraw w{};
    if (!read_withdraw(a, w)) return;
    Unexpected* u = matcher_.find_if(w.context, [&](const Incoming& m) {
        return m.local == nullptr && m.from == a.from && operation_behind(m) == w.sender;
    });
    if (u == nullptr) {
        if (is_remote(a.from)) post_line(a.from, wire::Kind::withdrawn, &w, sizeof w, too_late);
        return;
    }
    transport::ucx::Arriving* const arriving = u->message.arriving;
    matcher_.discard(*u);
    post_line(a.from, wire::Kind::withdrawn, &w, sizeof w);
    if (arriving != nullptr) network_->drop(*arriving); // which ends the send
}

void Lane::take_withdrawn(const transport::Arrival& a) {
    wire::Withdraw w{};
    if (!read_withdraw(a, w)) return;
    Operation* op = named_by(a, w.sender, Operation::Kind::send);
    if (op == nullptr || !op->asked_back) return;
    const bool dropped = static_cast<uint32_t>(a.envelope.tag) != too_late;
    if (!dropped && op->awaits_ack) return; // the ack comes
    if (is_remote(a.from)) {
        op->cancelled = dropped && op->error == Err::success;
        return part_of_remote_send_done(*op);
    }
    table_.remove(*op);
    finish_cancelled(*op);
}

} // namespace zipmpi::proto
