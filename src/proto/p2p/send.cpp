// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Send path of the progress engine.
#include "os/clock.hpp"
#include "proto/p2p/payload.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {

using transport::SendStatus;

namespace {

// A range of a message to be packed into a cell.
struct PayloadSlice {
    const Operation& op;
    uint64_t from;
    uint64_t bytes;
    size_t window = 1; // slices of the message in flight at a time
    [[nodiscard]] transport::BulkSource bulk() const {
        if (op.layout == nullptr) return {op.buffer + from, bytes};
        return {nullptr, bytes,
                [](const void* subject, std::byte* to) {
                    const PayloadSlice& s = *static_cast<const PayloadSlice*>(subject);
                    load_payload(s.op, s.from, to, s.bytes);
                },
                this, window};
    }
};

} // namespace

void ProgressEngine::start_send(Operation& op) {
    if (op.world_peer == world_rank_) {
        count_send(shm_.self(), op);
        return send_to_self(op);
    }
    const int peer = shm_.peer_of(op.world_peer);
    if (peer >= 0)
        op.transport_peer = static_cast<transport::Peer>(peer);
    else if (!find_remote(op.world_peer, op.transport_peer))
        return finish_unreachable(op);
    count_send(op.transport_peer, op);
    SendStatus sent = SendStatus::would_block;
    if (pending_of_peer_[op.transport_peer] == 0) sent = try_start(op); // else it would overtake
    if (sent == SendStatus::would_block) {
        pending_.push_back({op.transport_peer, &op, {}, {}, 0});
        ++pending_of_peer_[op.transport_peer];
    }
}

bool ProgressEngine::try_send_eager(Operation& op) {
    if (op.synchronous || op.world_peer == world_rank_) return false;
    const int peer = shm_.peer_of(op.world_peer);
    if (peer < 0 || pending_of_peer_[static_cast<size_t>(peer)] != 0 ||
        !is_eager(op, static_cast<transport::Peer>(peer)))
        return false;
    const wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, op.context, op.source, op.tag, 0};
    if (send_eager(static_cast<transport::Peer>(peer), e, op) != SendStatus::ok) return false;
    count_send(static_cast<transport::Peer>(peer), op);
    return true;
}

SendStatus ProgressEngine::send_eager(transport::Peer peer, const wire::Envelope& e, const Operation& op) {
    if (op.bytes > wire::inline_max) {
        const PayloadSlice all{op, 0, op.bytes};
        return shm_.send_bulk(peer, e, nullptr, 0, all.bulk());
    }
    std::byte packed[wire::inline_max];
    if (op.layout != nullptr) load_payload(op, 0, packed, op.bytes);
    const SendStatus sent = shm_.send_inline(peer, e, op.layout != nullptr ? packed : op.buffer, op.bytes);
    if (sent == SendStatus::ok) counters().add_owner(Counter::inline_messages);
    return sent;
}

std::byte* ProgressEngine::staging(uint64_t bytes) {
    if (staging_.size() < bytes) staging_.resize(std::max<size_t>(bytes, shm_.caps().bulk_max));
    return staging_.data();
}

// Sends the first slot of a message. ok: the operation is done or waits for the peer; no_memory: it was
// finished with an error.
SendStatus ProgressEngine::try_start(Operation& op) {
    if (is_remote(op.transport_peer)) return try_start_remote(op);
    wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, op.context, op.source, op.tag, 0};
    if (!is_eager(op, op.transport_peer)) return start_rendezvous(op, e);
    if (op.synchronous) {
        e.flags = wire::flag_synchronous;
        e.sync_id = table_.add(op);
        if (e.sync_id == 0) return SendStatus::would_block; // the table is full
    }
    const SendStatus sent = send_eager(op.transport_peer, e, op);
    if (op.synchronous && sent != SendStatus::ok) table_.remove(op);
    if (sent == SendStatus::no_memory) finish_without_memory(op);
    if (sent == SendStatus::ok && !op.synchronous) finish(op);
    return sent;
}

// If the receiver lags behind, sends a copy instead, so that the operation itself completes.
SendStatus ProgressEngine::start_rendezvous(Operation& op, wire::Envelope e) {
    e.kind = wire::MessageKind::rts;
    Operation* const copy = skew_buffer_.copy_for(op);
    if (copy == nullptr) return send_rts(op, e);
    const SendStatus sent = send_rts(*copy, e);
    if (sent == SendStatus::ok)
        finish(op);
    else if (sent == SendStatus::would_block)
        skew_buffer_.discard(*copy);
    else // the copy was finished and returned to the skew buffer
        finish_without_memory(op);
    return sent;
}

SendStatus ProgressEngine::send_rts(Operation& op, const wire::Envelope& e) {
    const bool contiguous = op.layout == nullptr;
    wire::Rts rts{op.bytes, contiguous ? reinterpret_cast<uint64_t>(op.buffer) : 0,
                  contiguous ? arena_.offset_of(op.buffer, op.bytes) : 0, table_.add(op), 0};
    if (rts.sender == 0) return SendStatus::would_block; // the table is full
    const SendStatus sent =
        contiguous
            ? shm_.send_inline(op.transport_peer, e, reinterpret_cast<const std::byte*>(&rts), sizeof rts)
            : send_rts_noncontig(op, e, rts);
    if (sent == SendStatus::ok) {
        counters().add(Counter::rendezvous);
        return sent;
    }
    table_.remove(op);
    if (sent == SendStatus::no_memory) finish_without_memory(op);
    return sent;
}

// Sends the layout with the rts if a cooperative copy is likely, else the first fragment.
SendStatus ProgressEngine::send_rts_noncontig(Operation& op, const wire::Envelope& e, wire::Rts& rts) {
    const auto* const payload = reinterpret_cast<const std::byte*>(&rts);
    op.transferred = 0;
    if (should_send_layout(op)) {
        const LayoutRecord record(op);
        rts.address = reinterpret_cast<uint64_t>(op.buffer);
        rts.layout_bytes = static_cast<uint32_t>(record.bytes());
        if (record.used != 0)
            return shm_.send_bulk(op.transport_peer, e, payload, sizeof rts, {record.data(), record.bytes()});
        rts.address = 0;
    }
    op.transferred = std::min(thresholds(op.transport_peer).noncontig_fragment_bytes, op.bytes);
    const PayloadSlice head{op, 0, op.transferred};
    return shm_.send_bulk(op.transport_peer, e, payload, sizeof rts, head.bulk());
}

void ProgressEngine::send_to_self(Operation& op) {
    IncomingMessage message;
    message.envelope = {wire::MessageKind::eager, 0, 0, 0, op.context, op.source, op.tag, 0};
    message.bytes = op.bytes;
    message.local_send = &op;
    if (Operation* recv = matcher_.take_posted(message.envelope)) return accept(*recv, message);
    counters().add(Counter::unexpected);
    const bool buffered = op.bytes <= shm_.caps().bulk_max && !op.synchronous;
    if (buffered) { // else the receive will copy from the send buffer
        message.local_send = nullptr;
        message.data = op.buffer;
        message.data_bytes = op.bytes;
        if (op.layout != nullptr) {
            message.data = staging(op.bytes);
            load_payload(op, 0, staging(op.bytes), op.bytes);
        }
    }
    if (matcher_.store(message) == nullptr)
        op.error = fail(Err::no_mem, "receive messages of this rank to itself before sending more",
                        "no memory to buffer %llu bytes that this rank sends to itself",
                        static_cast<unsigned long long>(op.bytes));
    if (multithreaded_) shm_.wake_self(); // another thread may probe for it
    if (buffered || op.error != Err::success) finish(op);
}

// Sends a control message, or queues it. `info` goes into the tag field. Within a node, messages have passed
// between the two ranks, so the ring to the peer exists and no_memory cannot occur.
void ProgressEngine::send_control(transport::Peer peer, wire::MessageKind kind, const void* payload,
                                  size_t bytes, uint32_t info) {
    const wire::Envelope e{kind, 0, 0, 0, 0, 0, static_cast<int32_t>(info), 0};
    if (pending_of_peer_[peer] == 0 &&
        try_send_control(peer, e, static_cast<const std::byte*>(payload), bytes) == SendStatus::ok)
        return;
    QueuedSend p{peer, nullptr, e, {}, bytes};
    static_assert(sizeof p.payload >= sizeof(wire::Cts));
    std::memcpy(p.payload, payload, bytes);
    pending_.push_back(p);
    ++pending_of_peer_[peer];
}

// Retries queued messages in order; those to a peer whose ring is still full stay queued.
int ProgressEngine::send_pending() {
    int sent = 0;
    ++pass_;
    const size_t n = pending_.size(); // completions may start sends, which queue behind
    size_t kept = 0;
    for (size_t i = 0; i < n; ++i) {
        const QueuedSend p = pending_[i];
        SendStatus result = SendStatus::would_block;
        const bool failed = faults_.any && is_failed(p.peer); // poll_faults() ends it
        if (full_in_pass_[p.peer] != pass_ && !failed)
            result =
                p.op != nullptr ? try_start(*p.op) : try_send_control(p.peer, p.envelope, p.payload, p.bytes);
        if (result == SendStatus::would_block) {
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

// Sends fragments while there is space. Returns true if the send is finished; it may then be destroyed.
bool ProgressEngine::push_fragments(Operation& op, int& sent) {
    const wire::Envelope e{wire::MessageKind::fragment, 0, 0, 0, 0, 0, 0, 0};
    const Thresholds& t = thresholds(op.transport_peer);
    const uint64_t fragment_bytes =
        op.layout != nullptr ? t.noncontig_fragment(op.expected) : t.fragment_bytes;
    const size_t window = t.window_bytes / fragment_bytes;
    while (op.transferred < op.expected) {
        // The fragments in flight should fit in the cache that both ranks share.
        if (shm_.cell_limit_reached(window)) return false;
        const size_t n = std::min(fragment_bytes, op.expected - op.transferred);
        const wire::Fragment f{op.remote_id, 0, op.transferred};
        const PayloadSlice slice{
            op, op.transferred, n,
            std::min<size_t>(window, (op.expected + fragment_bytes - 1) / fragment_bytes)};
        const SendStatus result = shm_.send_bulk(op.transport_peer, e, reinterpret_cast<const std::byte*>(&f),
                                                 sizeof f, slice.bulk());
        if (result == SendStatus::would_block) return false;
        if (result == SendStatus::no_memory) {
            finish_without_memory(op);
            return true;
        }
        op.transferred += n;
        ++sent;
    }
    finish(op);
    return true;
}

int ProgressEngine::push_pipelined_sends() {
    int sent = 0;
    const size_t n = pipelined_sends_.size();
    size_t kept = 0;
    for (size_t i = 0; i < n; ++i) {
        Operation* const op = pipelined_sends_[i];
        if (!push_fragments(*op, sent)) pipelined_sends_[kept++] = op;
    }
    pipelined_sends_.erase(pipelined_sends_.begin() + static_cast<ptrdiff_t>(kept),
                           pipelined_sends_.begin() + static_cast<ptrdiff_t>(n));
    return sent;
}

} // namespace zipmpi::proto
