// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/network_events.hpp"

#include "base/param.hpp"
#include "proto/p2p/payload.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {

using transport::NetworkOperation;
using transport::OpStatus;

namespace {

Param<int64_t> min_iov_segment{
    "net.iov_min_segment",
    512,
    {1, 1 * GiB},
    Unit::bytes,
    Level::tuner,
    Scope::local,
    "smallest mean segment of noncontiguous data sent and received as an iovec; below, data is packed"};

// All operations of the network are operations of the engine.
Operation& of_engine(NetworkOperation* operation) { return *static_cast<Operation*>(operation); }

} // namespace

transport::Arrival NetworkEvents::with_engine_index(const transport::Arrival& a) {
    const transport::Peer from = peers_.from_network(a.from);
    queue_.add_peer(from); // for replies
    return {from, a.envelope, a.payload, a.bulk, a.bulk_bytes};
}

void NetworkEvents::message_arrived(const transport::Arrival& message) {
    dispatcher_.dispatch(with_engine_index(message));
}

void NetworkEvents::rts_arrived(const transport::Arrival& message, transport::IncomingBulk& bytes,
                                uint64_t length) {
    const transport::Arrival a = with_engine_index(message);
    wire::Ack id{};
    if (a.envelope.kind != wire::MessageKind::rts || a.envelope.inline_bytes != sizeof id)
        return network_.get()->drop(bytes);
    std::memcpy(&id, a.payload, sizeof id);
    receiver_.on_message({a.envelope, a.from, length, nullptr, 0, id.sender, 0, 0, nullptr, &bytes, false});
}

void NetworkEvents::send_finished(NetworkOperation* operation, OpStatus outcome) {
    remote_.on_sent(of_engine(operation), outcome);
}

void NetworkEvents::fetch_finished(NetworkOperation* operation, OpStatus outcome) {
    Operation& op = of_engine(operation);
    if (outcome != OpStatus::done) op.error = unreachable_error(op);
    completion_.finish(op);
}

void NetworkEvents::peer_failed(transport::Peer peer, const char*) {
    network_.report_failure(peer, PeerFailure::unreachable);
}

void NetworkEvents::connection_lost(transport::Peer peer, const char*) {
    network_.report_failure(peer, PeerFailure::connection_lost);
}

void NetworkEvents::pack(NetworkOperation* operation, uint64_t offset, std::byte* to, size_t bytes) {
    load_payload(of_engine(operation), offset, to, bytes);
}

void NetworkEvents::unpack(NetworkOperation* operation, uint64_t offset, const std::byte* from,
                           size_t bytes) {
    const Operation& op = of_engine(operation);
    if (offset < op.received) // the end of a truncated message is discarded
        store_payload(op, offset, from, std::min<uint64_t>(bytes, op.received - offset));
}

// Segments for gather and scatter by the network; 0: packing is cheaper.
size_t NetworkEvents::list_iov(NetworkOperation* operation, iovec* list, size_t most) {
    const Operation& op = of_engine(operation);
    const bool truncated = op.error != Err::success; // the end of the message is discarded
    if (truncated || op.layout == nullptr || op.layout->size < min_iov_segment.get() * op.layout->runs)
        return 0;
    const uint64_t bytes = op.kind == Operation::Kind::send ? op.bytes : op.received;
    uint64_t listed = 0;
    const size_t n =
        packing::list_iov(*op.layout, op.buffer, op.elements, op.first_byte, bytes, list, most, listed);
    return listed == bytes ? n : 0;
}

} // namespace zipmpi::proto
