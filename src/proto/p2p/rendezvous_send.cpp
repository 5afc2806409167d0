// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/rendezvous_send.hpp"

#include "os/clock.hpp"
#include "proto/p2p/payload_slice.hpp"
#include "proto/p2p/remote_buffer.hpp"

#include <algorithm>

namespace zipmpi::proto {

using transport::SendStatus;

// If the receiver lags behind, sends a copy instead, so that the operation itself completes.
SendStatus RendezvousSender::start(Operation& op, wire::Envelope e) {
    e.kind = wire::MessageKind::rts;
    Operation* const copy = paths_.may_copy_ahead() ? skew_buffer_.copy_for(op) : nullptr;
    if (copy == nullptr) return send_rts(op, e, RtsData::first_bytes);
    const SendStatus sent = send_rts(*copy, e, RtsData::first_bytes);
    if (sent == SendStatus::ok)
        completion_.finish(op);
    else if (sent == SendStatus::would_block)
        skew_buffer_.discard(*copy);
    else // the copy was finished and returned to the skew buffer
        completion_.finish_without_memory(op);
    return sent;
}

SendStatus RendezvousSender::start_held(Operation& op, wire::Envelope e) {
    e.kind = wire::MessageKind::rts;
    return send_rts(op, e, RtsData::none);
}

SendStatus RendezvousSender::send_rts(Operation& op, const wire::Envelope& e, RtsData data) {
    const bool contiguous = op.layout == nullptr;
    wire::Rts rts{op.bytes, contiguous ? reinterpret_cast<uint64_t>(op.buffer) : 0,
                  contiguous ? node_.arena.offset_of(op.buffer, op.bytes) : 0, table_.add(op), 0};
    if (rts.sender == 0) return SendStatus::would_block; // the table is full
    op.transferred = 0;
    const SendStatus sent = contiguous || data == RtsData::none
                                ? node_.shm.send_inline(op.transport_peer, e,
                                                        reinterpret_cast<const std::byte*>(&rts), sizeof rts)
                                : send_rts_noncontig(op, e, rts);
    if (sent == SendStatus::ok) {
        node_.counters().add(Counter::rendezvous);
        node_.events.raise(EventType::rendezvous_start, op.world_peer, op.tag,
                           static_cast<int64_t>(op.bytes));
        if (op.transferred == 0) paths_.rts_of(op, op.transport_peer).on_rts();
        return sent;
    }
    table_.remove(op);
    if (sent == SendStatus::no_memory) completion_.finish_without_memory(op);
    return sent;
}

// Sends the layout with the rts if a cooperative copy is likely, else the first fragment.
SendStatus RendezvousSender::send_rts_noncontig(Operation& op, const wire::Envelope& e, wire::Rts& rts) {
    const auto* const payload = reinterpret_cast<const std::byte*>(&rts);
    if (paths_.should_send_layout(op)) {
        const LayoutRecord record(op);
        rts.address = reinterpret_cast<uint64_t>(op.buffer);
        rts.layout_bytes = static_cast<uint32_t>(record.bytes());
        if (record.used != 0)
            return node_.shm.send_bulk(op.transport_peer, e, payload, sizeof rts,
                                       {record.data(), record.bytes()});
        rts.address = 0;
    }
    op.transferred = std::min(paths_.thresholds(op.transport_peer).noncontig_fragment_bytes, op.bytes);
    const PayloadSlice head{op, 0, op.transferred};
    return node_.shm.send_bulk(op.transport_peer, e, payload, sizeof rts, head.bulk());
}

void RendezvousSender::on_cts(Operation& op, const wire::Cts& cts, transport::Peer from,
                              uint32_t unexpected) {
    skew_buffer_.on_reply(from, unexpected, op.bytes, os::now_ns());
    if (op.transferred == 0) paths_.rts_of(op, from).on_cts();
    op.remote_id = cts.receiver;
    op.expected = std::min(cts.bytes, op.bytes);
    pipelined_.push_back(&op);
}

void RendezvousSender::on_ack(Operation& op, transport::Peer from, uint32_t unexpected) {
    skew_buffer_.on_reply(from, unexpected, op.bytes, os::now_ns());
    paths_.rts_of(op, from).on_single_copy();
    completion_.finish(op);
}

int RendezvousSender::push_pipelined() {
    int sent = 0;
    const size_t n = pipelined_.size();
    size_t kept = 0;
    for (size_t i = 0; i < n; ++i) {
        Operation* const op = pipelined_[i];
        if (!push_fragments_of(*op, sent)) pipelined_[kept++] = op;
    }
    pipelined_.erase(pipelined_.begin() + static_cast<ptrdiff_t>(kept),
                     pipelined_.begin() + static_cast<ptrdiff_t>(n));
    return sent;
}

// Sends fragments while there is space. Returns true if the send is finished; it may then be destroyed.
bool RendezvousSender::push_fragments_of(Operation& op, int& sent) {
    const wire::Envelope e{wire::MessageKind::fragment, 0, 0, 0, 0, 0, 0, 0};
    const Thresholds& t = paths_.thresholds(op.transport_peer);
    const uint64_t fragment_bytes =
        op.layout != nullptr ? t.noncontig_fragment(op.expected) : t.fragment_bytes;
    const size_t window = t.window_bytes / fragment_bytes;
    while (op.transferred < op.expected) {
        // The fragments in flight should fit in the cache that both ranks share.
        if (node_.shm.cell_limit_reached(window)) return false;
        const size_t n = std::min(fragment_bytes, op.expected - op.transferred);
        const wire::Fragment f{op.remote_id, 0, op.transferred};
        const PayloadSlice slice{
            op, op.transferred, n,
            std::min<size_t>(window, (op.expected + fragment_bytes - 1) / fragment_bytes)};
        const SendStatus result = node_.shm.send_bulk(
            op.transport_peer, e, reinterpret_cast<const std::byte*>(&f), sizeof f, slice.bulk());
        if (result == SendStatus::would_block) return false;
        if (result == SendStatus::no_memory) {
            completion_.finish_without_memory(op);
            return true;
        }
        op.transferred += n;
        ++sent;
    }
    completion_.finish(op);
    return true;
}

} // namespace zipmpi::proto
