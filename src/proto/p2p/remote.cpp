// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages between hosts. Short ones go at once; of long ones only the envelope does, and the network moves
// the bytes into the user's buffer once the receive is known. Matching is the same as within a node.
//
// A send to another host is done when all that it waits for has happened: the network has finished with the
// memory, and, if it is synchronous and went at once, the receiver has acknowledged it. Operation::wanted
// counts that.
#include "base/param.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/p2p/payload.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {

using transport::Sent;
using transport::ucx::Memory;
using transport::ucx::Outcome;
using transport::ucx::Posted;

namespace {

constexpr int64_t by_transport = -1;
constexpr uint64_t usual_eager_limit = 128 * KiB;

Param<int64_t> eager_limit{"net.eager_limit",
                           by_transport,
                           {by_transport, 1 * GiB},
                           Unit::bytes,
                           Level::tuner,
                           Scope::local,
                           "longest message to another host that is sent without asking the receiver; -1: "
                           "128 KiB, or less where RDMA devices fetch long ones"};

Param<int64_t> gaps_eager_limit{
    "net.gaps_eager_limit",
    512 * KiB,
    {0, 1 * GiB},
    Unit::bytes,
    Level::tuner,
    Scope::local,
    "the same for a message whose memory has gaps, which is packed before it goes"};

uint64_t eager_limit_to(const transport::ucx::Network& network, transport::Peer peer, bool gaps) {
    const bool chosen = eager_limit != by_transport;
    const uint64_t ask_from = chosen ? 0 : network.rendezvous_from(peer);
    if (ask_from != 0) return std::min(ask_from - 1, usual_eager_limit);
    const uint64_t limit = chosen ? static_cast<uint64_t>(eager_limit.get()) : usual_eager_limit;
    const uint64_t wanted = gaps ? std::max(limit, static_cast<uint64_t>(gaps_eager_limit.get())) : limit;
    return std::min(wanted, network.longest_at_once(peer));
}

Param<int64_t> shortest_piece{
    "net.shortest_piece",
    512,
    {1, 1 * GiB},
    Unit::bytes,
    Level::tuner,
    Scope::local,
    "pieces of this length or more go to and from the network by themselves; shorter ones are packed"};

// A look at the network is a system call. While something comes through shared memory it is not looked at in
// every round.
constexpr uint32_t rounds_per_look = 16;
constexpr uint32_t quiet_rounds = 64;

Memory memory_of(Operation& op, uint64_t bytes) {
    return {op.layout == nullptr ? op.buffer : nullptr, bytes, &op};
}

// The network gathers and scatters by itself where that is cheaper than packing.
size_t pieces_of(void* operation, iovec* list, size_t most) {
    const Operation& op = *static_cast<const Operation*>(operation);
    const bool cut = op.error != Err::success; // too long for its receive: a part goes nowhere
    if (cut || op.layout == nullptr || op.layout->size < shortest_piece.get() * op.layout->runs) return 0;
    const uint64_t bytes = op.kind == Operation::Kind::send ? op.bytes : op.received;
    uint64_t listed = 0;
    const size_t n =
        layout::list_pieces(*op.layout, op.buffer, op.elements, op.first_byte, bytes, list, most, listed);
    return listed == bytes ? n : 0;
}

} // namespace

transport::ucx::Sink Lane::network_sink() {
    static constexpr auto numbered = [](void* subject, const transport::Arrival& a) {
        Lane& lane = *static_cast<Lane*>(subject);
        const transport::Peer from = a.from + lane.local_ranks_;
        lane.get_to_know(from);
        return transport::Arrival{from, a.envelope, a.payload, a.bulk, a.bulk_bytes};
    };
    return {
        this,
        [](void* lane, const transport::Arrival& a) { static_cast<Lane*>(lane)->arrived(numbered(lane, a)); },
        [](void* lane, const transport::Arrival& a, transport::ucx::Arriving& bytes, uint64_t length) {
            static_cast<Lane*>(lane)->announced(numbered(lane, a), bytes, length);
        },
        [](void* lane, void* operation, Outcome outcome) {
            static_cast<Lane*>(lane)->network_has_sent(*static_cast<Operation*>(operation), outcome);
        },
        [](void* lane, void* operation, Outcome outcome) {
            auto& op = *static_cast<Operation*>(operation);
            if (outcome != Outcome::done) static_cast<Lane*>(lane)->fail_remote(op);
            static_cast<Lane*>(lane)->finish(op);
        },
        [](void* lane, transport::Peer peer, const char*) {
            auto& self = *static_cast<Lane*>(lane);
            if (self.on_lost_ != nullptr) self.on_lost_(self.network_->rank_of(peer));
        },
        [](void* operation, uint64_t offset, std::byte* to, size_t bytes) {
            load_payload(*static_cast<const Operation*>(operation), offset, to, bytes);
        },
        [](void* operation, uint64_t offset, const std::byte* from, size_t bytes) {
            auto& op = *static_cast<Operation*>(operation);
            if (offset < op.received) // the rest of a message that is too long goes nowhere
                store_payload(op, offset, from, std::min<uint64_t>(bytes, op.received - offset));
        },
        pieces_of,
    };
}

void Lane::get_to_know(transport::Peer peer) {
    if (peer < pending_of_peer_.size()) return;
    pending_of_peer_.resize(peer + 1);
    full_in_pass_.resize(peer + 1);
    traffic_of_peer_.resize(peer + 1);
}

bool Lane::find_remote(int world_rank, transport::Peer& peer) {
    const int reached = network_ != nullptr ? network_->reach(world_rank) : -1;
    if (reached < 0) return false;
    peer = local_ranks_ + static_cast<transport::Peer>(reached);
    get_to_know(peer);
    return true;
}

void Lane::finish_unreachable(Operation& op) {
    fail_remote(op);
    finish(op);
}

void Lane::tell_of_context(int world_rank, wire::Kind what, uint32_t context) {
    transport::Peer peer = 0;
    if (find_remote(world_rank, peer)) post_line(peer, what, &context, sizeof context);
}

Sent Lane::try_start_remote(Operation& op) {
    const transport::Peer to = op.transport_peer - local_ranks_;
    wire::Envelope e{wire::Kind::eager, 0, 0, 0, op.context, op.source, op.tag, 0};
    const bool at_once = op.bytes <= eager_limit_to(*network_, to, op.layout != nullptr);
    op.wanted = 1;
    Posted posted = Posted::failed;
    if (at_once) {
        if (op.synchronous) {
            e.flags = wire::flag_synchronous;
            e.sync_id = table_.add(op);
            if (e.sync_id == 0) return Sent::would_block; // too many are under way
            op.wanted = 2;
            op.awaits_ack = true;
        }
        std::byte packed[wire::inline_max];
        if (op.bytes <= wire::inline_max) {
            e.inline_bytes = static_cast<uint8_t>(op.bytes);
            load_payload(op, 0, packed, op.bytes);
        }
        const Memory data = memory_of(op, op.bytes <= wire::inline_max ? 0 : op.bytes);
        posted = op.patient ? network_->send_soon(to, e, packed, data) : network_->send(to, e, packed, data);
    } else {
        e.kind = wire::Kind::rts;
        e.inline_bytes = sizeof(wire::Ack);
        const wire::Ack name{table_.add(op)};
        if (name.sender == 0) return Sent::would_block; // a million under way: wait for one of them
        posted =
            network_->send_long(to, e, reinterpret_cast<const std::byte*>(&name), memory_of(op, op.bytes));
    }
    switch (posted) {
    case Posted::done:
        part_of_remote_send_done(op);
        return Sent::ok;
    case Posted::under_way:
        return Sent::ok;
    case Posted::would_block:
        if (op.own_id != 0) table_.remove(op);
        return Sent::would_block;
    case Posted::failed:
        if (op.own_id != 0) table_.remove(op);
        finish_unreachable(op);
        return Sent::ok;
    }
    return Sent::ok;
}

void Lane::network_has_sent(Operation& op, Outcome outcome) {
    if (outcome != Outcome::done) {
        fail_remote(op);
        op.wanted = 1; // nothing else comes
    }
    part_of_remote_send_done(op);
}

void Lane::part_of_remote_send_done(Operation& op) {
    if (--op.wanted != 0) return; // it keeps its name: somebody may still use it
    if (op.own_id != 0) table_.remove(op);
    finish(op);
}

void Lane::fail_remote(Operation& op) {
    if (wire::is_foreign(op.world_peer)) {
        op.error = fail(Err::proc_failed, "look for the message of that program or of its mpiexec",
                        "rank %d of the communicator, a process of another job, cannot be reached", op.peer);
        return;
    }
    op.error = fail(Err::proc_failed, "look for the message of that rank or of the launcher",
                    "rank %d of MPI_COMM_WORLD, on another host, cannot be reached", op.world_peer);
}

Sent Lane::send_line(transport::Peer peer, const wire::Envelope& e, const std::byte* payload, size_t bytes) {
    if (!is_remote(peer)) {
        const Sent sent = shm_.send_short(peer, e, payload, bytes);
        if (sent == Sent::ok && e.kind == wire::Kind::withdraw) shm_.call(peer); // it does not expect that
        return sent;
    }
    wire::Envelope line = e;
    line.inline_bytes = static_cast<uint8_t>(bytes);
    // A line to a peer that is gone is of no use to anybody.
    return network_->send(peer - local_ranks_, line, payload, {}) == Posted::would_block ? Sent::would_block
                                                                                         : Sent::ok;
}

void Lane::announced(const transport::Arrival& a, transport::ucx::Arriving& bytes, uint64_t length) {
    wire::Ack name{};
    if (a.envelope.kind != wire::Kind::rts || a.envelope.inline_bytes != sizeof name)
        return network_->drop(bytes);
    std::memcpy(&name, a.payload, sizeof name);
    take_message({a.envelope, a.from, length, nullptr, 0, name.sender, 0, 0, nullptr, &bytes, false});
}

// Straight into the user's buffer, if it has no gaps and is long enough.
void Lane::accept_from_network(Operation& recv, const Incoming& message) {
    Memory to = memory_of(recv, message.bytes);
    if (message.bytes > recv.bytes) to.at = nullptr;
    recv.in_network = true;
    network_->receive(*message.arriving, to);
}

int Lane::poll_network(bool came_from_this_node) {
    rounds_alone_ = came_from_this_node ? 0 : std::min(rounds_alone_, quiet_rounds) + 1;
    if (rounds_alone_ < quiet_rounds && rounds_alone_ % rounds_per_look != rounds_per_look - 1) return 0;
    const int happened = network_->progress();
    if (happened != 0) rounds_alone_ = quiet_rounds;
    return happened;
}

} // namespace zipmpi::proto
