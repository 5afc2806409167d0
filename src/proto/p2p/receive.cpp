// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Receive path of the progress engine. Messages from peers are validated; invalid ones are dropped.
#include "os/clock.hpp"
#include "proto/p2p/payload.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace zipmpi::proto {
namespace {

template <class T>
bool read_payload(const transport::Arrival& a, T& value) {
    if (a.envelope.inline_bytes != sizeof(T)) return false;
    std::memcpy(&value, a.payload, sizeof(T));
    return true;
}

Err truncation_error(const IncomingMessage& message, const Operation& recv) {
    const bool collective = (message.envelope.context & 1U) != 0;
    if (collective)
        return fail(
            Err::truncate,
            "call the same collective with the same count and datatype on all ranks of the communicator",
            "rank %d has sent %llu bytes in this collective, this rank expects %llu", message.envelope.source,
            static_cast<unsigned long long>(message.bytes), static_cast<unsigned long long>(recv.bytes));
    return fail(Err::truncate,
                "make the receive buffer at least as large as the message, or probe for its size",
                "the message from rank %d with tag %d has %llu bytes, the receive buffer has %llu",
                message.envelope.source, message.envelope.tag, static_cast<unsigned long long>(message.bytes),
                static_cast<unsigned long long>(recv.bytes));
}

// Kinds accepted from other hosts; rendezvous between hosts are handled by the network.
bool is_network_kind(wire::MessageKind kind) {
    return kind == wire::MessageKind::eager || kind == wire::MessageKind::ack ||
           kind == wire::MessageKind::cancel || kind == wire::MessageKind::context_release ||
           kind == wire::MessageKind::revoke || kind == wire::MessageKind::cancelled;
}

} // namespace

void ProgressEngine::start_recv(Operation& op) {
    if (UnexpectedMessage* u = matcher_.find_unexpected(op.context, op.source, op.tag)) {
        accept(op, u->message);
        matcher_.discard(*u);
    } else {
        matcher_.post(op);
    }
}

void ProgressEngine::handle_arrival(const transport::Arrival& a) {
    if (is_remote(a.from) && !is_network_kind(a.envelope.kind)) return;
    switch (a.envelope.kind) {
    case wire::MessageKind::eager: {
        const uint64_t bytes = a.bulk != nullptr ? a.bulk_bytes : a.envelope.inline_bytes;
        on_message({a.envelope, a.from, bytes, a.bulk != nullptr ? a.bulk : a.payload, bytes, 0, 0, 0,
                    nullptr, nullptr, false});
        break;
    }
    case wire::MessageKind::rts: {
        wire::Rts rts{};
        if (read_payload(a, rts) && (rts.layout_bytes != 0 || a.bulk_bytes <= rts.bytes))
            on_message({a.envelope, a.from, rts.bytes, a.bulk, a.bulk_bytes, rts.sender, rts.address,
                        rts.arena_offset, nullptr, nullptr, rts.layout_bytes != 0});
        break;
    }
    case wire::MessageKind::cts:
        on_cts(a);
        break;
    case wire::MessageKind::fragment:
        on_fragment(a);
        break;
    case wire::MessageKind::ack:
        on_ack(a);
        break;
    case wire::MessageKind::cancel:
        on_cancel(a);
        break;
    case wire::MessageKind::cancelled:
        on_cancelled(a);
        break;
    case wire::MessageKind::coop_offer:
        on_coop_offer(a);
        break;
    case wire::MessageKind::context_release:
    case wire::MessageKind::revoke: {
        const auto call = a.envelope.kind == wire::MessageKind::revoke ? on_revoke_ : on_context_release_;
        uint32_t context = 0;
        if (is_remote(a.from) && read_payload(a, context) && call != nullptr) call(context);
        break;
    }
    case wire::MessageKind::none:
        break;
    }
}

void ProgressEngine::on_message(const IncomingMessage& message) {
    if (Operation* recv = matcher_.take_posted(message.envelope)) {
        accept(*recv, message);
        return;
    }
    counters().add(Counter::unexpected);
    if (matcher_.store(message) == nullptr) std::abort(); // out of memory, and a message must not be lost
    if (multithreaded_) shm_.wake_self();                 // another thread may probe for it
}

// Delivers a message to its receive, which has been removed from the matcher.
void ProgressEngine::accept(Operation& recv, const IncomingMessage& message) {
    recv.matched_source = message.envelope.source;
    recv.matched_tag = message.envelope.tag;
    recv.transport_peer = message.from;
    recv.received = std::min(message.bytes, recv.bytes);
    if (message.bytes > recv.bytes) recv.error = truncation_error(message, recv);
    counters().add_owner(Counter::receives);
    counters().add_owner(Counter::receive_bytes, recv.received);
    if (message.bulk != nullptr) return accept_from_network(recv, message);
    if (message.envelope.kind == wire::MessageKind::rts) return accept_rendezvous(recv, message);
    if (message.local_send != nullptr)
        copy_payload(*message.local_send, recv, recv.received);
    else
        store_payload(recv, 0, message.data, recv.received);
    if ((message.envelope.flags & wire::flag_synchronous) != 0) {
        const wire::Ack ack{message.envelope.sync_id};
        send_control(message.from, wire::MessageKind::ack, &ack, sizeof ack);
    }
    if (message.local_send != nullptr) finish(*message.local_send);
    finish(recv);
}

// Uses a single copy from the sender's buffer if that is possible and pays, else requests fragments.
void ProgressEngine::accept_rendezvous(Operation& recv, const IncomingMessage& message) {
    if (start_coop_copy(recv, message)) return;
    if (copy_from_arena(recv, message) || copy_by_cma(recv, message)) {
        const wire::Ack ack{message.sender};
        reply(message, wire::MessageKind::ack, &ack, sizeof ack);
        return finish(recv);
    }
    request_fragments(recv, message);
}

void ProgressEngine::request_fragments(Operation& recv, const IncomingMessage& message) {
    recv.expected = recv.received;
    recv.transferred = message.has_layout ? 0 : std::min(message.data_bytes, recv.expected);
    const bool all = recv.transferred == recv.expected;
    const wire::Cts cts{message.sender, all ? 0 : table_.add(recv), recv.expected};
    reply(message, wire::MessageKind::cts, &cts,
          sizeof cts); // before unpacking: the sender can continue meanwhile
    store_payload(recv, 0, message.data, recv.transferred);
    if (all) finish(recv);
}

// The tag field of the reply carries the number of unexpected messages, for SkewBuffer.
void ProgressEngine::reply(const IncomingMessage& message, wire::MessageKind kind, const void* payload,
                           size_t bytes) {
    const auto unexpected = static_cast<uint32_t>(std::min<uint64_t>(matcher_.unexpected_count(), INT32_MAX));
    send_control(message.from, kind, payload, bytes, unexpected);
}

bool ProgressEngine::copy_from_arena(Operation& recv, const IncomingMessage& message) {
    if (message.arena_offset == 0) return false;
    const std::byte* const from = arena_.view(message.from, message.arena_offset, message.bytes);
    if (from == nullptr) return false;
    store_payload(recv, 0, from, recv.received);
    counters().add(Counter::arena_copies);
    return true;
}

// CMA read. Into a noncontiguous buffer: long segments are scattered by the kernel; short ones are cheaper to
// read into a cached staging buffer and unpack.
bool ProgressEngine::read_from_sender(const Operation& recv, const IncomingMessage& message) {
    if (recv.layout == nullptr) return cma_.read(message.from, message.address, recv.buffer, recv.received);
    constexpr uint64_t max_bytes_per_call = uint64_t{1} << 30;
    // From this size on an iovec entry costs less than copying the segment.
    constexpr int64_t long_segment = 1024;
    const bool scatter = recv.layout->size >= long_segment * recv.layout->runs;
    iovec iov[64];
    for (uint64_t done = 0, n = 0; done < recv.received; done += n) {
        const uint64_t left = std::min(recv.received - done, max_bytes_per_call);
        if (scatter) {
            const size_t used = packing::list_iov(*recv.layout, recv.buffer, recv.elements,
                                                  recv.first_byte + done, left, iov, std::size(iov), n);
            if (!cma_.read(message.from, message.address + done, iov, used, n)) return false;
        } else {
            n = std::min<uint64_t>(shm_.caps().bulk_max, left);
            std::byte* const packed = staging(n);
            if (!cma_.read(message.from, message.address + done, packed, n)) return false;
            store_payload(recv, done, packed, n);
        }
    }
    return true;
}

bool ProgressEngine::copy_by_cma(Operation& recv, const IncomingMessage& message) {
    if (message.address == 0 || message.has_layout) return false; // the sender's buffer is noncontiguous
    const Thresholds& t = thresholds(message.from);
    if (recv.received < t.cma_min || recv.received > t.cma_max || !cma_heuristics_[message.from].should_try())
        return false;
    const uint64_t begin = os::now_ns();
    if (!read_from_sender(recv, message)) return false;
    cma_heuristics_[message.from].record(t, recv.received, os::now_ns() - begin);
    counters().add(Counter::cma_copies);
    return true;
}

// The operation that a peer names, or null if it is of another kind or with another peer.
Operation* ProgressEngine::find_peer_operation(const transport::Arrival& a, wire::OperationId id,
                                               Operation::Kind kind) const {
    Operation* op = table_.find(id);
    return op != nullptr && op->kind == kind && op->transport_peer == a.from ? op : nullptr;
}

void ProgressEngine::on_cts(const transport::Arrival& a) {
    wire::Cts cts{};
    if (!read_payload(a, cts)) return;
    Operation* op = find_peer_operation(a, cts.sender, Operation::Kind::send);
    if (op == nullptr) return;
    table_.remove(*op);
    skew_buffer_.on_reply(a.from, static_cast<uint32_t>(a.envelope.tag), op->bytes, os::now_ns());
    if (op->transferred == 0) (op->layout == nullptr ? rts_policy_ : layout_rts_policy_)[a.from].on_cts();
    op->remote_id = cts.receiver;
    op->expected = std::min(cts.bytes, op->bytes);
    pipelined_sends_.push_back(op);
}

void ProgressEngine::on_fragment(const transport::Arrival& a) {
    wire::Fragment f{};
    if (!read_payload(a, f) || a.bulk == nullptr) return;
    Operation* op = find_peer_operation(a, f.receiver, Operation::Kind::recv);
    if (op == nullptr) return;
    if (f.offset > op->expected || a.bulk_bytes > op->expected - f.offset ||
        a.bulk_bytes > op->expected - op->transferred)
        return;
    store_payload(*op, f.offset, a.bulk, a.bulk_bytes);
    op->transferred += a.bulk_bytes;
    if (op->transferred == op->expected) {
        table_.remove(*op);
        finish(*op);
    }
}

void ProgressEngine::on_ack(const transport::Arrival& a) {
    wire::Ack ack{};
    if (!read_payload(a, ack)) return;
    Operation* op = find_peer_operation(a, ack.sender, Operation::Kind::send);
    if (op == nullptr) return;
    table_.remove(*op);
    if (is_remote(a.from)) return complete_send_event(*op);
    skew_buffer_.on_reply(a.from, static_cast<uint32_t>(a.envelope.tag), op->bytes, os::now_ns());
    (op->layout == nullptr ? rts_policy_ : layout_rts_policy_)[a.from].on_single_copy();
    finish(*op);
}

} // namespace zipmpi::proto
