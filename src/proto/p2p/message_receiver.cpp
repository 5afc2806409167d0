// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/message_receiver.hpp"

#include "base/diagnostic.hpp"
#include "proto/count_mismatch.hpp"
#include "proto/p2p/payload.hpp"
#include "proto/p2p/remote_operation.hpp"
#include "proto/p2p/rendezvous_event.hpp"

#include <algorithm>
#include <string>
#include <time.h>
#include <unistd.h>

namespace zipmpi::proto {
namespace {

[[gnu::cold]] Err truncation_error(const wire::Envelope& e, uint64_t bytes, const Operation& recv) {
    const bool collective = (e.context & 1U) != 0;
    if (collective) return count_mismatch(Err::truncate, e.source, bytes, recv.bytes);
    return fail(Err::truncate,
                "make the receive buffer at least as large as the message, or probe for its size",
                "the message from rank %d with tag %d has %llu bytes, the receive buffer has %llu", e.source,
                e.tag, static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(recv.bytes));
}

} // namespace

MessageReceiver::MessageReceiver(NodeTransports& node, EngineLock& lock, NetworkPort& network,
                                 ControlSender& control, PathPolicy& paths, OperationTable& table,
                                 Completion& completion)
    : node_(node)
    , lock_(lock)
    , network_(network)
    , control_(control)
    , completion_(completion)
    , budget_(control, node.shm.self(), UnexpectedBudget::limits_of_rank(node.shm.segment().local_ranks()))
    , matcher_(ExpectedPeers(node.shm))
    , rendezvous_(node, paths, table, control, matcher_, completion)
    , staging_(node.shm.caps().bulk_max) {
    matcher_.unexpected().set_counters(node.counters());
    matcher_.unexpected().set_budget(budget_);
}

[[gnu::always_inline]] inline void MessageReceiver::begin(Operation& recv, const wire::Envelope& e,
                                                          transport::Peer from, uint64_t bytes) {
    recv.matched_source = e.source;
    recv.matched_tag = e.tag;
    recv.transport_peer = from;
    recv.received = std::min(bytes, recv.bytes);
    if (bytes > recv.bytes) [[unlikely]]
        recv.error = truncation_error(e, bytes, recv);
    Counters& counters = node_.counters();
    counters.add_owner(Counter::receives);
    counters.add_owner(Counter::receive_bytes, recv.received);
}

[[gnu::always_inline]] inline void MessageReceiver::accept_eager(Operation& recv, const wire::Envelope& e,
                                                                 transport::Peer from, const std::byte* data,
                                                                 uint64_t bytes) {
    begin(recv, e, from, bytes);
    store_payload(recv, 0, data, recv.received);
    if ((e.flags & wire::flag_synchronous) != 0) [[unlikely]] {
        const wire::Ack ack{e.sync_id};
        control_.send(from, wire::MessageKind::ack, &ack, sizeof ack);
    }
    completion_.finish(recv);
}

void MessageReceiver::start(Operation& recv) {
    if (UnexpectedMessage* const u = matcher_.unexpected().find(recv.context, recv.source, recv.tag)) {
        const wire::Envelope& e = u->message.envelope;
        node_.events.raise(EventType::unexpected_match, e.source, e.tag,
                           static_cast<int64_t>(u->message.bytes));
        accept(recv, u->message);
        matcher_.unexpected().discard(*u);
    } else {
        matcher_.post(recv);
    }
}

void MessageReceiver::receive_ready(int world_peer) {
    const int local = node_.shm.peer_of(world_peer);
    if (local < 0 || !matcher_.has_only_exact()) return;
    uint64_t bytes = 0;
    const auto take = [&](const wire::Envelope& sent, const std::byte* payload)
        __attribute__((always_inline)) {
        const wire::Envelope e = sent; // private copy: as in try_recv_inline()
        if (e.kind != wire::MessageKind::eager || (e.flags & wire::flag_synchronous) != 0 ||
            e.inline_bytes > wire::inline_max) [[unlikely]]
            return false;
        Operation* const recv = matcher_.take_exact_if(e, [&](const Operation& op) {
            return e.inline_bytes <= op.bytes && op.layout == nullptr && op.on_done == nullptr;
        });
        if (recv == nullptr) [[unlikely]]
            return false;
        copy_short(recv->buffer, payload, e.inline_bytes);
        recv->matched_source = e.source;
        recv->matched_tag = e.tag;
        recv->received = e.inline_bytes;
        recv->complete = true;
        bytes += e.inline_bytes;
        return true;
    };
    const uint32_t messages =
        node_.shm.receive_rings().take_inline(static_cast<transport::Peer>(local), wire::ring_slots, take);
    if (messages == 0) return;
    Counters& counters = node_.counters();
    counters.add_owner(Counter::receives, messages);
    counters.add_owner(Counter::receive_bytes, bytes);
    completion_.count(messages);
}

void MessageReceiver::on_eager(const transport::Arrival& a) {
    const bool in_slot = a.bulk == nullptr;
    const uint64_t bytes = in_slot ? a.envelope.inline_bytes : a.bulk_bytes;
    const std::byte* const data = in_slot ? a.payload : a.bulk;
    if (Operation* const recv = matcher_.take_posted(a.envelope)) [[likely]]
        return accept_eager(*recv, a.envelope, a.from, data, bytes);
    store({a.envelope, a.from, bytes, data, bytes, 0, 0, 0, nullptr, nullptr, false});
}

void MessageReceiver::on_message(const IncomingMessage& message) {
    if (Operation* const recv = matcher_.take_posted(message.envelope))
        accept(*recv, message);
    else
        store(message);
}

// A message must not be lost, and its sender has completed. Its senders hold further ones, and other
// processes and threads get time to free memory.
void MessageReceiver::store_without_memory(const IncomingMessage& message) {
    constexpr timespec pause{0, 20'000'000};
    constexpr int tries = 100;
    budget_.hold_all();
    for (int i = 0; i < tries; ++i) {
        nanosleep(&pause, nullptr);
        if (matcher_.unexpected().store(message) != nullptr) return;
    }
    exit_without_memory(message);
}

void MessageReceiver::exit_without_memory(const IncomingMessage& message) const {
    Diagnostic p;
    p.what = "out of memory for messages without a receive";
    p.where = "rank " + std::to_string(node_.shm.segment().world_rank(node_.shm.self()));
    p.why = "no memory to store " + std::to_string(message.bytes) + " bytes; " +
            std::to_string(matcher_.unexpected().count()) + " earlier messages are stored";
    p.fix = "post receives earlier, or limit the messages in flight, for example by MPI_Ssend";
    report(p);
    _exit(1);
}

void MessageReceiver::count_unexpected(const IncomingMessage& message) {
    node_.counters().add(Counter::unexpected);
    node_.events.raise(EventType::unexpected_message, message.envelope.source, message.envelope.tag,
                       static_cast<int64_t>(message.bytes));
}

void MessageReceiver::store(const IncomingMessage& message) {
    count_unexpected(message);
    if (matcher_.unexpected().store(message) == nullptr) store_without_memory(message);
    lock_.wake_waiters(); // another thread may probe for it
}

void MessageReceiver::accept(Operation& recv, const IncomingMessage& message) {
    if (message.envelope.kind != wire::MessageKind::rts && message.local_send == nullptr)
        return accept_eager(recv, message.envelope, message.from, message.data, message.bytes);
    begin(recv, message.envelope, message.from, message.bytes);
    if (message.bulk != nullptr) return fetch_from_network(recv, message);
    if (message.local_send == nullptr) return rendezvous_.accept(recv, message);
    copy_payload(*message.local_send, recv, recv.received);
    completion_.finish(*message.local_send);
    completion_.finish(recv);
}

const IncomingMessage* MessageReceiver::near_miss(const Operation& recv) const {
    const int from = recv.source == any_source ? 0 : node_.shm.peer_of(recv.world_peer);
    return from < 0 ? nullptr : matcher_.unexpected().near_miss(recv, static_cast<transport::Peer>(from));
}

// Directly into the user's buffer if it is contiguous and large enough.
void MessageReceiver::fetch_from_network(Operation& recv, const IncomingMessage& message) {
    transport::BufferRef to = buffer_of(recv, message.bytes);
    if (message.bytes > recv.bytes) to.at = nullptr;
    recv.network_owned = true;
    raise_rendezvous_copy(node_.events, recv, RendezvousPath::network);
    network_.get()->fetch(*message.bulk, to);
}

void MessageReceiver::receive_from_self(Operation& send) {
    IncomingMessage message;
    message.envelope = {wire::MessageKind::eager, 0, 0, 0, send.context, send.source, send.tag, 0};
    message.from = node_.shm.self();
    message.bytes = send.bytes;
    message.local_send = &send;
    if (Operation* recv = matcher_.take_posted(message.envelope)) return accept(*recv, message);
    count_unexpected(message);
    const bool buffered = send.bytes <= node_.shm.caps().bulk_max && !send.synchronous;
    if (buffered) { // else the receive will copy from the send buffer
        message.local_send = nullptr;
        message.data = send.buffer;
        message.data_bytes = send.bytes;
        if (send.layout != nullptr) {
            std::byte* const packed = staging_.reserve(send.bytes);
            load_payload(send, 0, packed, send.bytes);
            message.data = packed;
        }
    }
    if (matcher_.unexpected().store(message) == nullptr)
        send.error = fail(Err::no_mem, "receive messages of this rank to itself before sending more",
                          "no memory to buffer %llu bytes that this rank sends to itself",
                          static_cast<unsigned long long>(send.bytes));
    lock_.wake_waiters(); // another thread may probe for it
    if (buffered || send.error != Err::success) completion_.finish(send);
}

} // namespace zipmpi::proto
