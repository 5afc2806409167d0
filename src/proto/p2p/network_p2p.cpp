// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages between hosts. Short ones are sent eagerly. Of long ones the envelope is sent first; after
// matching, the network moves the bytes into the user's buffer. Messages from the network and from the node
// share one matcher.
//
// A send to another host completes when the network has released its buffer and, if it is an eager
// synchronous send, when the receiver has acknowledged it. Operation::expected counts the outstanding events.
#include "base/param.hpp"
#include "proto/p2p/payload.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <algorithm>
#include <cstring>

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

uint64_t eager_limit_to(const transport::Network& network, transport::Peer peer, bool noncontig) {
    const bool chosen = eager_limit != by_transport;
    const uint64_t rendezvous_min = chosen ? 0 : network.rendezvous_threshold(peer);
    if (rendezvous_min != 0) return std::min(rendezvous_min - 1, default_eager_limit);
    const uint64_t limit = chosen ? static_cast<uint64_t>(eager_limit.get()) : default_eager_limit;
    const uint64_t wanted =
        noncontig ? std::max(limit, static_cast<uint64_t>(noncontig_eager_limit.get())) : limit;
    return std::min(wanted, network.max_eager(peer));
}

Param<int64_t> min_iov_segment{
    "net.iov_min_segment",
    512,
    {1, 1 * GiB},
    Unit::bytes,
    Level::tuner,
    Scope::local,
    "smallest mean segment of noncontiguous data sent and received as an iovec; below, data is packed"};

// Polling the network is a system call. After a message from this node only every 16th progress call polls
// it, until 64 calls have passed without another one.
constexpr uint32_t rounds_per_poll = 16;
constexpr uint32_t quiet_rounds = 64;

BufferRef memory_of(Operation& op, uint64_t bytes) {
    return {op.layout == nullptr ? op.buffer : nullptr, bytes, &op};
}

// Segments of an operation for gather and scatter by the network; 0: packing is cheaper.
size_t iov_of(void* operation, iovec* list, size_t capacity) {
    const Operation& op = *static_cast<const Operation*>(operation);
    const bool truncated = op.error != Err::success; // the end of the message is discarded
    if (truncated || op.layout == nullptr || op.layout->size < min_iov_segment.get() * op.layout->runs)
        return 0;
    const uint64_t bytes = op.kind == Operation::Kind::send ? op.bytes : op.received;
    uint64_t listed = 0;
    const size_t n =
        packing::list_iov(*op.layout, op.buffer, op.elements, op.first_byte, bytes, list, capacity, listed);
    return listed == bytes ? n : 0;
}

} // namespace

transport::NetworkCallbacks ProgressEngine::network_callbacks() {
    static constexpr auto with_engine_index = [](void* subject, const transport::Arrival& a) {
        ProgressEngine& engine = *static_cast<ProgressEngine*>(subject);
        const transport::Peer from = a.from + engine.local_ranks_;
        engine.add_remote_peer(from);
        return transport::Arrival{from, a.envelope, a.payload, a.bulk, a.bulk_bytes};
    };
    return {
        this,
        [](void* engine, const transport::Arrival& a) {
            static_cast<ProgressEngine*>(engine)->handle_arrival(with_engine_index(engine, a));
        },
        [](void* engine, const transport::Arrival& a, transport::IncomingBulk& bytes, uint64_t length) {
            static_cast<ProgressEngine*>(engine)->on_network_rts(with_engine_index(engine, a), bytes, length);
        },
        [](void* engine, void* operation, OpStatus outcome) {
            static_cast<ProgressEngine*>(engine)->on_network_sent(*static_cast<Operation*>(operation),
                                                                  outcome);
        },
        [](void* engine, void* operation, OpStatus outcome) {
            auto& op = *static_cast<Operation*>(operation);
            if (outcome != OpStatus::done) static_cast<ProgressEngine*>(engine)->fail_remote(op);
            static_cast<ProgressEngine*>(engine)->finish(op);
        },
        [](void* engine, transport::Peer peer, const char*) {
            auto& self = *static_cast<ProgressEngine*>(engine);
            if (self.on_connection_lost_ != nullptr) self.on_connection_lost_(self.network_->rank_of(peer));
        },
        [](void* operation, uint64_t offset, std::byte* to, size_t bytes) {
            load_payload(*static_cast<const Operation*>(operation), offset, to, bytes);
        },
        [](void* operation, uint64_t offset, const std::byte* from, size_t bytes) {
            auto& op = *static_cast<Operation*>(operation);
            if (offset < op.received) // the end of a truncated message is discarded
                store_payload(op, offset, from, std::min<uint64_t>(bytes, op.received - offset));
        },
        iov_of,
    };
}

void ProgressEngine::add_remote_peer(transport::Peer peer) {
    if (peer < pending_of_peer_.size()) return;
    pending_of_peer_.resize(peer + 1);
    full_in_pass_.resize(peer + 1);
    traffic_of_peer_.resize(peer + 1);
}

bool ProgressEngine::find_remote(int world_rank, transport::Peer& peer) {
    const int reached = network_ != nullptr ? network_->connect_to(world_rank) : -1;
    if (reached < 0) return false;
    peer = local_ranks_ + static_cast<transport::Peer>(reached);
    add_remote_peer(peer);
    return true;
}

void ProgressEngine::finish_unreachable(Operation& op) {
    fail_remote(op);
    finish(op);
}

void ProgressEngine::notify_context(int world_rank, wire::MessageKind what, uint32_t context) {
    transport::Peer peer = 0;
    if (find_remote(world_rank, peer)) send_control(peer, what, &context, sizeof context);
}

SendStatus ProgressEngine::try_start_remote(Operation& op) {
    const transport::Peer to = op.transport_peer - local_ranks_;
    wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, op.context, op.source, op.tag, 0};
    const bool eager = op.bytes <= eager_limit_to(*network_, to, op.layout != nullptr);
    op.expected = 1;
    PostStatus posted = PostStatus::failed;
    if (eager) {
        if (op.synchronous) {
            e.flags = wire::flag_synchronous;
            e.sync_id = table_.add(op);
            if (e.sync_id == 0) return SendStatus::would_block; // the table is full
            op.expected = 2;
            op.ack_pending = true;
        }
        std::byte packed[wire::inline_max];
        if (op.bytes <= wire::inline_max) {
            e.inline_bytes = static_cast<uint8_t>(op.bytes);
            load_payload(op, 0, packed, op.bytes);
        }
        const BufferRef data = memory_of(op, op.bytes <= wire::inline_max ? 0 : op.bytes);
        posted =
            op.batchable ? network_->send_batched(to, e, packed, data) : network_->send(to, e, packed, data);
    } else {
        e.kind = wire::MessageKind::rts;
        e.inline_bytes = sizeof(wire::Ack);
        const wire::Ack id{table_.add(op)};
        if (id.sender == 0) return SendStatus::would_block; // the table is full
        posted = network_->send_rendezvous(to, e, reinterpret_cast<const std::byte*>(&id),
                                           memory_of(op, op.bytes));
    }
    switch (posted) {
    case PostStatus::done:
        complete_send_event(op);
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

void ProgressEngine::on_network_sent(Operation& op, OpStatus outcome) {
    if (outcome != OpStatus::done) {
        fail_remote(op);
        op.expected = 1; // no other event follows
    }
    complete_send_event(op);
}

void ProgressEngine::complete_send_event(Operation& op) {
    if (--op.expected != 0) return; // its id stays valid: the peer may still name it
    if (op.own_id != 0) table_.remove(op);
    finish(op);
}

void ProgressEngine::fail_remote(Operation& op) {
    if (wire::is_external(op.world_peer)) {
        op.error = fail(Err::proc_failed, "see the output of that program and of its mpiexec for the cause",
                        "rank %d of the communicator, a process of another job, cannot be reached", op.peer);
        return;
    }
    op.error = fail(Err::proc_failed, "see the output of that rank and of the launcher for the cause",
                    "rank %d of MPI_COMM_WORLD, on another host, cannot be reached", op.world_peer);
}

SendStatus ProgressEngine::try_send_control(transport::Peer peer, const wire::Envelope& e,
                                            const std::byte* payload, size_t bytes) {
    if (!is_remote(peer)) {
        const SendStatus sent = shm_.send_inline(peer, e, payload, bytes);
        if (sent == SendStatus::ok && e.kind == wire::MessageKind::cancel)
            shm_.notify_receiver(peer); // not counted as expected
        return sent;
    }
    wire::Envelope envelope = e;
    envelope.inline_bytes = static_cast<uint8_t>(bytes);
    // Control messages to a failed peer are dropped.
    return network_->send(peer - local_ranks_, envelope, payload, {}) == PostStatus::would_block
               ? SendStatus::would_block
               : SendStatus::ok;
}

void ProgressEngine::on_network_rts(const transport::Arrival& a, transport::IncomingBulk& bytes,
                                    uint64_t length) {
    wire::Ack id{};
    if (a.envelope.kind != wire::MessageKind::rts || a.envelope.inline_bytes != sizeof id)
        return network_->drop(bytes);
    std::memcpy(&id, a.payload, sizeof id);
    on_message({a.envelope, a.from, length, nullptr, 0, id.sender, 0, 0, nullptr, &bytes, false});
}

// Directly into the user's buffer if it is contiguous and large enough.
void ProgressEngine::accept_from_network(Operation& recv, const IncomingMessage& message) {
    BufferRef to = memory_of(recv, message.bytes);
    if (message.bytes > recv.bytes) to.at = nullptr;
    recv.network_owned = true;
    network_->fetch(*message.bulk, to);
}

int ProgressEngine::poll_network(bool came_from_this_node) {
    polls_since_local_ = came_from_this_node ? 0 : std::min(polls_since_local_, quiet_rounds) + 1;
    if (polls_since_local_ < quiet_rounds && polls_since_local_ % rounds_per_poll != rounds_per_poll - 1)
        return 0;
    const int happened = network_->progress();
    if (happened != 0) polls_since_local_ = quiet_rounds;
    return happened;
}

} // namespace zipmpi::proto
