// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/dispatcher.hpp"

#include <cstring>

namespace zipmpi::proto {
namespace {

template <class T>
bool read_payload(const transport::Arrival& a, T& value) {
    if (a.envelope.inline_bytes != sizeof(T)) return false;
    std::memcpy(&value, a.payload, sizeof(T));
    return true;
}

// Kinds accepted from other hosts; rendezvous between hosts are handled by the network.
bool is_network_kind(wire::MessageKind kind) {
    return kind == wire::MessageKind::eager || kind == wire::MessageKind::ack ||
           kind == wire::MessageKind::cancel || kind == wire::MessageKind::context_release ||
           kind == wire::MessageKind::revoke || kind == wire::MessageKind::cancelled ||
           kind == wire::MessageKind::hold_eager;
}

} // namespace

void ArrivalDispatcher::dispatch(const transport::Arrival& a) {
    if (peers_.is_remote(a.from) && !is_network_kind(a.envelope.kind)) return;
    switch (a.envelope.kind) {
    case wire::MessageKind::eager:
        return receiver_.on_eager(a);
    case wire::MessageKind::rts:
        return on_rts(a);
    case wire::MessageKind::cts:
        return on_cts(a);
    case wire::MessageKind::fragment:
        return on_fragment(a);
    case wire::MessageKind::ack:
        return on_ack(a);
    case wire::MessageKind::cancel:
        return on_cancel(a);
    case wire::MessageKind::cancelled:
        return on_cancelled(a);
    case wire::MessageKind::coop_offer:
        return on_coop_offer(a);
    case wire::MessageKind::context_release:
    case wire::MessageKind::revoke:
        return on_context(a);
    case wire::MessageKind::hold_eager:
        return on_hold(a);
    case wire::MessageKind::none:
        break;
    }
}

void ArrivalDispatcher::on_rts(const transport::Arrival& a) {
    wire::Rts rts{};
    if (read_payload(a, rts) && (rts.layout_bytes != 0 || a.bulk_bytes <= rts.bytes))
        receiver_.on_message({a.envelope, a.from, rts.bytes, a.bulk, a.bulk_bytes, rts.sender, rts.address,
                              rts.arena_offset, nullptr, nullptr, rts.layout_bytes != 0});
}

// The operation that a peer names, or null if it is of another kind or with another peer.
Operation* ArrivalDispatcher::find_operation(const transport::Arrival& a, wire::OperationId id,
                                             Operation::Kind kind) const {
    Operation* op = table_.find(id);
    return op != nullptr && op->kind == kind && op->transport_peer == a.from ? op : nullptr;
}

void ArrivalDispatcher::on_cts(const transport::Arrival& a) {
    wire::Cts cts{};
    if (!read_payload(a, cts)) return;
    Operation* op = find_operation(a, cts.sender, Operation::Kind::send);
    if (op == nullptr) return;
    table_.remove(*op);
    sender_.rendezvous().on_cts(*op, cts, a.from, static_cast<uint32_t>(a.envelope.tag));
}

void ArrivalDispatcher::on_fragment(const transport::Arrival& a) {
    wire::Fragment f{};
    if (!read_payload(a, f) || a.bulk == nullptr) return;
    Operation* op = find_operation(a, f.receiver, Operation::Kind::recv);
    if (op != nullptr) receiver_.rendezvous().fragments().on_fragment(*op, f, a);
}

void ArrivalDispatcher::on_ack(const transport::Arrival& a) {
    wire::Ack ack{};
    if (!read_payload(a, ack)) return;
    Operation* op = find_operation(a, ack.sender, Operation::Kind::send);
    if (op == nullptr) return;
    if (peers_.is_remote(a.from)) return sender_.remote().on_ack(*op);
    table_.remove(*op);
    sender_.rendezvous().on_ack(*op, a.from, static_cast<uint32_t>(a.envelope.tag));
}

void ArrivalDispatcher::on_cancel(const transport::Arrival& a) {
    wire::Cancel w{};
    if (read_payload(a, w) && w.sender != 0) cancellation_.on_cancel(w, a.from);
}

void ArrivalDispatcher::on_cancelled(const transport::Arrival& a) {
    wire::Cancel w{};
    if (!read_payload(a, w) || w.sender == 0) return;
    Operation* op = find_operation(a, w.sender, Operation::Kind::send);
    if (op != nullptr) cancellation_.on_cancelled(*op, a.from, static_cast<uint32_t>(a.envelope.tag));
}

void ArrivalDispatcher::on_coop_offer(const transport::Arrival& a) {
    wire::CoopOffer offer{};
    if (!read_payload(a, offer)) return;
    const Operation* op = find_operation(a, offer.sender, Operation::Kind::send);
    if (op != nullptr) receiver_.rendezvous().coop().on_offer(*op, offer, a);
}

void ArrivalDispatcher::on_context(const transport::Arrival& a) {
    const auto call = a.envelope.kind == wire::MessageKind::revoke ? on_revoke_ : on_context_release_;
    uint32_t context = 0;
    if (peers_.is_remote(a.from) && read_payload(a, context) && call != nullptr) call(context);
}

void ArrivalDispatcher::on_hold(const transport::Arrival& a) {
    wire::HoldEager w{};
    if (!read_payload(a, w)) return;
    w.hold != 0 ? sender_.queue().hold(a.from) : sender_.queue().resume(a.from);
}

} // namespace zipmpi::proto
