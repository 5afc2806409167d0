// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The sending half of a lane.
#include "os/clock.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/p2p/payload.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {

using transport::Sent;

namespace {

// Part of a message on its way into a cell.
struct Slice {
    const Operation& op;
    uint64_t from;
    uint64_t bytes;
    size_t parts = 1; // of the message, that are under way at a time
    [[nodiscard]] transport::Bulk bulk() const {
        if (op.layout == nullptr) return {op.buffer + from, bytes};
        return {nullptr, bytes,
                [](const void* subject, std::byte* to) {
                    const Slice& s = *static_cast<const Slice*>(subject);
                    load_payload(s.op, s.from, to, s.bytes);
                },
                this, parts};
    }
};

} // namespace

void Lane::start_send(Operation& op) {
    if (op.world_peer == world_rank_) {
        count_send(shm_.self(), op);
        return send_to_self(op);
    }
    const int peer = shm_.reach(op.world_peer);
    if (peer >= 0)
        op.transport_peer = static_cast<transport::Peer>(peer);
    else if (!find_remote(op.world_peer, op.transport_peer))
        return finish_unreachable(op);
    count_send(op.transport_peer, op);
    Sent sent = Sent::would_block;
    if (pending_of_peer_[op.transport_peer] == 0) sent = try_start(op); // else it must not overtake
    if (sent == Sent::would_block) {
        pending_.push_back({op.transport_peer, &op, {}, {}, 0});
        ++pending_of_peer_[op.transport_peer];
    }
}

bool Lane::send_at_once(Operation& op) {
    if (op.synchronous || op.world_peer == world_rank_) return false;
    const int peer = shm_.reach(op.world_peer);
    if (peer < 0 || pending_of_peer_[static_cast<size_t>(peer)] != 0 ||
        !goes_at_once(op, static_cast<transport::Peer>(peer)))
        return false;
    const wire::Envelope e{wire::Kind::eager, 0, 0, 0, op.context, op.source, op.tag, 0};
    if (send_eager(static_cast<transport::Peer>(peer), e, op) != Sent::ok) return false;
    count_send(static_cast<transport::Peer>(peer), op);
    return true;
}

Sent Lane::send_eager(transport::Peer peer, const wire::Envelope& e, const Operation& op) {
    if (op.bytes > wire::inline_max) {
        const Slice all{op, 0, op.bytes};
        return shm_.send_bulk(peer, e, nullptr, 0, all.bulk());
    }
    std::byte packed[wire::inline_max];
    if (op.layout != nullptr) load_payload(op, 0, packed, op.bytes);
    const Sent sent = shm_.send_short(peer, e, op.layout != nullptr ? packed : op.buffer, op.bytes);
    if (sent == Sent::ok) counters().add_locked(Counter::inline_messages);
    return sent;
}

std::byte* Lane::staging(uint64_t bytes) {
    if (staging_.size() < bytes) staging_.resize(std::max<size_t>(bytes, shm_.caps().bulk_max));
    return staging_.data();
}

// Sends the first line of a message. After ok the operation is done or waits for the peer; no_memory finishes
// it with an error.
Sent Lane::try_start(Operation& op) {
    if (is_remote(op.transport_peer)) return try_start_remote(op);
    wire::Envelope e{wire::Kind::eager, 0, 0, 0, op.context, op.source, op.tag, 0};
    if (!goes_at_once(op, op.transport_peer)) return start_rendezvous(op, e);
    if (op.synchronous) {
        e.flags = wire::flag_synchronous;
        e.sync_id = table_.add(op);
        if (e.sync_id == 0) return Sent::would_block; // too many are under way
    }
    const Sent sent = send_eager(op.transport_peer, e, op);
    if (op.synchronous && sent != Sent::ok) table_.remove(op);
    if (sent == Sent::no_memory) finish_without_memory(op);
    if (sent == Sent::ok && !op.synchronous) finish(op);
    return sent;
}

// To a receiver that is behind, on behalf of a copy, so that this one need not wait.
Sent Lane::start_rendezvous(Operation& op, wire::Envelope e) {
    e.kind = wire::Kind::rts;
    Operation* const copy = skew_.copy_for(op);
    if (copy == nullptr) return send_rts(op, e);
    const Sent sent = send_rts(*copy, e);
    if (sent == Sent::ok)
        finish(op);
    else if (sent == Sent::would_block)
        skew_.discard(*copy);
    else // the copy is finished and gone
        finish_without_memory(op);
    return sent;
}

Sent Lane::send_rts(Operation& op, const wire::Envelope& e) {
    const bool whole = op.layout == nullptr; // in one piece
    wire::Rts rts{op.bytes, whole ? reinterpret_cast<uint64_t>(op.buffer) : 0,
                  whole ? arena_.place_of(op.buffer, op.bytes) : 0, table_.add(op), 0};
    if (rts.sender == 0) return Sent::would_block; // a million under way: wait for one of them
    const Sent sent =
        whole ? shm_.send_short(op.transport_peer, e, reinterpret_cast<const std::byte*>(&rts), sizeof rts)
              : send_rts_with_gaps(op, e, rts);
    if (sent == Sent::ok) {
        counters().add(Counter::rendezvous);
        return sent;
    }
    table_.remove(op);
    if (sent == Sent::no_memory) finish_without_memory(op);
    return sent;
}

// With a note on where the message lies if it is likely to be copied from there, else with its first part.
Sent Lane::send_rts_with_gaps(Operation& op, const wire::Envelope& e, wire::Rts& rts) {
    const auto* const line = reinterpret_cast<const std::byte*>(&rts);
    op.moved = 0;
    if (worth_a_note(op)) {
        const PlaceNote note(op);
        rts.address = reinterpret_cast<uint64_t>(op.buffer);
        rts.described = static_cast<uint32_t>(note.bytes());
        if (note.used != 0)
            return shm_.send_bulk(op.transport_peer, e, line, sizeof rts, {note.data(), note.bytes()});
        rts.address = 0;
    }
    op.moved = std::min(limits(op.transport_peer).gaps_fragment_bytes, op.bytes);
    const Slice head{op, 0, op.moved};
    return shm_.send_bulk(op.transport_peer, e, line, sizeof rts, head.bulk());
}

void Lane::send_to_self(Operation& op) {
    Incoming message;
    message.envelope = {wire::Kind::eager, 0, 0, 0, op.context, op.source, op.tag, 0};
    message.bytes = op.bytes;
    message.local = &op;
    if (Operation* recv = matcher_.take_posted(message.envelope)) return accept(*recv, message);
    counters().add(Counter::unexpected);
    const bool buffered = op.bytes <= shm_.caps().bulk_max && !op.synchronous;
    if (buffered) { // else the send's own buffer serves when a receive comes
        message.local = nullptr;
        message.data = op.buffer;
        message.data_bytes = op.bytes;
        if (op.layout != nullptr) {
            message.data = staging(op.bytes);
            load_payload(op, 0, staging(op.bytes), op.bytes);
        }
    }
    if (matcher_.keep(message) == nullptr)
        op.error =
            fail(Err::no_mem, "receive messages before sending more to the own rank",
                 "no memory for %llu bytes sent to the own rank", static_cast<unsigned long long>(op.bytes));
    if (multithreaded_) shm_.wake_own(); // another thread may probe for it
    if (buffered || op.error != Err::success) finish(op);
}

// An answer to the peer, so there is a queue to it.
void Lane::post_line(transport::Peer peer, wire::Kind kind, const void* payload, size_t bytes,
                     uint32_t note) {
    const wire::Envelope e{kind, 0, 0, 0, 0, 0, static_cast<int32_t>(note), 0};
    if (pending_of_peer_[peer] == 0 &&
        send_line(peer, e, static_cast<const std::byte*>(payload), bytes) == Sent::ok)
        return;
    Pending p{peer, nullptr, e, {}, bytes};
    static_assert(sizeof p.payload >= sizeof(wire::Cts));
    std::memcpy(p.payload, payload, bytes);
    pending_.push_back(p);
    ++pending_of_peer_[peer];
}

// Tries what found its ring full before, in order; a peer that is still full keeps its entries in place.
int Lane::send_pending() {
    int sent = 0;
    ++pass_;
    const size_t n = pending_.size(); // what completes may start sends, which queue behind
    size_t kept = 0;
    for (size_t i = 0; i < n; ++i) {
        const Pending p = pending_[i];
        Sent result = Sent::would_block;
        const bool hopeless = faults_.any && is_gone(p.peer); // whoever waits ends it
        if (full_in_pass_[p.peer] != pass_ && !hopeless)
            result = p.op != nullptr ? try_start(*p.op) : send_line(p.peer, p.envelope, p.payload, p.bytes);
        if (result == Sent::would_block) {
            full_in_pass_[p.peer] = pass_;
            pending_[kept++] = p;
        } else {
            --pending_of_peer_[p.peer];
            ++sent;
        }
    }
    pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(kept),
                   pending_.begin() + static_cast<ptrdiff_t>(n));
    return sent;
}

// Sends fragments while there is room. True: the send is finished and may be gone.
bool Lane::push_fragments(Operation& op, int& sent) {
    const wire::Envelope e{wire::Kind::fragment, 0, 0, 0, 0, 0, 0, 0};
    const Thresholds& t = limits(op.transport_peer);
    const uint64_t most = op.layout != nullptr ? t.gaps_fragment(op.wanted) : t.fragment_bytes;
    const size_t window = t.window_bytes / most;
    while (op.moved < op.wanted) {
        // no more under way than stays in the cache that the two share
        if (shm_.cells_out(window)) return false;
        const size_t n = std::min(most, op.wanted - op.moved);
        const wire::Fragment f{op.remote_id, 0, op.moved};
        const Slice slice{op, op.moved, n, std::min<size_t>(window, (op.wanted + most - 1) / most)};
        const Sent result = shm_.send_bulk(op.transport_peer, e, reinterpret_cast<const std::byte*>(&f),
                                           sizeof f, slice.bulk());
        if (result == Sent::would_block) return false;
        if (result == Sent::no_memory) {
            finish_without_memory(op);
            return true;
        }
        op.moved += n;
        ++sent;
    }
    finish(op);
    return true;
}

int Lane::push_streams() {
    int sent = 0;
    const size_t n = streams_.size();
    size_t kept = 0;
    for (size_t i = 0; i < n; ++i) {
        Operation* const op = streams_[i];
        if (!push_fragments(*op, sent)) streams_[kept++] = op;
    }
    streams_.erase(streams_.begin() + static_cast<ptrdiff_t>(kept),
                   streams_.begin() + static_cast<ptrdiff_t>(n));
    return sent;
}

} // namespace zipmpi::proto
