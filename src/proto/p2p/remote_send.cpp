// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/remote_send.hpp"

#include "base/param.hpp"
#include "proto/p2p/match.hpp"
#include "proto/p2p/payload.hpp"

#include <algorithm>
#include <utility>

namespace zipmpi::proto {

using transport::BufferRef;
using transport::OpStatus;
using transport::PostStatus;
using transport::SendStatus;

namespace {

constexpr int64_t by_transport = -1;
constexpr uint64_t default_eager_limit = 128 * KiB;

Param<int64_t> eager_limit{"net.eager_limit",
                           by_transport,
                           {by_transport, 1 * GiB},
                           Unit::bytes,
                           Level::tuner,
                           Scope::local,
                           "largest eager message to another host; -1: 128 KiB, less with RDMA"};

Param<int64_t> noncontig_eager_limit{
    "net.noncontig_eager_limit",
    512 * KiB,
    {0, 1 * GiB},
    Unit::bytes,
    Level::tuner,
    Scope::local,
    "largest eager noncontiguous message to another host; net.eager_limit if that is larger; not used with "
    "RDMA while net.eager_limit is -1"};

uint64_t eager_limit_for(const Operation& op, const transport::Network& network, transport::Peer to) {
    const bool chosen = eager_limit != by_transport;
    const uint64_t rendezvous_min = chosen ? 0 : network.rendezvous_threshold(to);
    if (rendezvous_min != 0) return std::min(rendezvous_min - 1, default_eager_limit);
    const uint64_t limit = chosen ? static_cast<uint64_t>(eager_limit.get()) : default_eager_limit;
    const uint64_t wanted =
        op.layout != nullptr ? std::max(limit, static_cast<uint64_t>(noncontig_eager_limit.get())) : limit;
    return std::min(wanted, network.max_eager(to));
}

} // namespace

SendStatus RemoteSender::try_start(Operation& op) {
    const transport::Peer to = peers_.to_network(op.transport_peer);
    wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, op.context, op.source, op.tag, 0};
    op.events_left = 1;
    const bool held = queue_.is_held(op.transport_peer) && !table_.full();
    const bool eager = op.bytes <= (held ? wire::multislot_max : eager_limit_for(op, *network_.get(), to));
    if (eager && must_poll(op.bytes)) return SendStatus::would_block;
    const Completes when = held || op.synchronous ? Completes::matched : Completes::sent;
    const PostStatus posted = eager ? post_eager(op, to, e, when) : post_rendezvous(op, to, e);
    switch (posted) {
    case PostStatus::done:
        count_event(op);
        return SendStatus::ok;
    case PostStatus::in_flight:
        return SendStatus::ok;
    case PostStatus::would_block:
        if (op.own_id != 0) table_.remove(op);
        return SendStatus::would_block;
    case PostStatus::failed:
        if (op.own_id != 0) table_.remove(op);
        finish_unreachable(op);
        return SendStatus::ok;
    }
    return SendStatus::ok;
}

// A sender that only sends would not see that the receiver asks to hold messages.
bool RemoteSender::must_poll(uint64_t bytes) {
    if (std::exchange(polls_seen_, network_.polls()) != network_.polls()) unpolled_bytes_ = 0;
    if (unpolled_bytes_ > bytes_per_poll_) return true;
    unpolled_bytes_ += bytes + sizeof(UnexpectedMessage);
    return false;
}

PostStatus RemoteSender::post_eager(Operation& op, transport::Peer to, wire::Envelope& e, Completes when) {
    if (when == Completes::matched) {
        e.flags = wire::flag_synchronous | op.round_flags;
        e.sync_id = table_.add(op);
        if (e.sync_id == 0) return PostStatus::would_block; // the table is full
        op.events_left = 2;
        op.ack_pending = true;
    }
    std::byte packed[wire::inline_max];
    if (op.bytes <= wire::inline_max) {
        e.inline_bytes = static_cast<uint8_t>(op.bytes);
        load_payload(op, 0, packed, op.bytes);
    }
    const BufferRef data = buffer_of(op, op.bytes <= wire::inline_max ? 0 : op.bytes);
    return op.batchable ? network_.get()->send_batched(to, e, packed, data)
                        : network_.get()->send(to, e, packed, data);
}

PostStatus RemoteSender::post_rendezvous(Operation& op, transport::Peer to, wire::Envelope& e) {
    e.kind = wire::MessageKind::rts;
    e.inline_bytes = sizeof(wire::Ack);
    const wire::Ack id{table_.add(op)};
    if (id.sender == 0) return PostStatus::would_block; // the table is full
    const PostStatus posted = network_.get()->send_rendezvous(to, e, reinterpret_cast<const std::byte*>(&id),
                                                              buffer_of(op, op.bytes));
    if (posted == PostStatus::done || posted == PostStatus::in_flight)
        events_.raise(EventType::rendezvous_start, op.world_peer, op.tag, static_cast<int64_t>(op.bytes));
    return posted;
}

void RemoteSender::on_sent(Operation& op, OpStatus outcome) {
    if (outcome != OpStatus::done) {
        op.error = unreachable_error(op);
        op.events_left = 1; // no other event follows
    }
    count_event(op);
}

void RemoteSender::on_ack(Operation& op) {
    if (!op.ack_pending) return;
    op.ack_pending = false;
    table_.remove(op); // no `cancelled` follows an ack
    count_event(op);
}

void RemoteSender::count_event(Operation& op) {
    if (--op.events_left != 0) return; // its id stays valid: the peer may still name it
    if (op.own_id != 0) table_.remove(op);
    completion_.finish(op);
}

void RemoteSender::finish_unreachable(Operation& op) {
    completion_.finish_with_error(op, unreachable_error(op));
}

} // namespace zipmpi::proto
