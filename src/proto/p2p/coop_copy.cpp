// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/coop_copy.hpp"

#include "os/clock.hpp"
#include "proto/p2p/payload.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {
namespace {

// 0: contiguous.
uint64_t mean_segment(const packing::Layout* layout) {
    return layout == nullptr ? 0 : static_cast<uint64_t>(layout->size / layout->runs);
}

} // namespace

bool ProgressEngine::copy_chunk(const CoopCopy& copy, uint32_t chunk) {
    const uint64_t at = chunk_offset(copy.chunk_bytes, chunk);
    const uint64_t bytes = chunk_length(copy.recv->received, copy.chunk_bytes, chunk);
    if (copy.view != nullptr) {
        store_payload(*copy.recv, at, copy.view + at, bytes);
        return true;
    }
    if (copy.recv->layout == nullptr && copy.from.layout == nullptr)
        return cma_.read(copy.message.from, copy.from.address + at, copy.recv->buffer + at, bytes);
    for (IovPairs p(*copy.recv, copy.from, at, bytes); p.next();)
        if (!cma_.read(copy.message.from, p.remote(), p.remote_count(), p.local(), p.local_count(),
                       p.bytes()))
            return false;
    return true;
}

bool ProgressEngine::write_chunk(const Operation& send, transport::Peer to, const RemoteBuffer& to_buffer,
                                 uint64_t at, uint64_t bytes) {
    if (send.layout == nullptr && to_buffer.layout == nullptr)
        return cma_.write(to, to_buffer.address + at, send.buffer + at, bytes);
    for (IovPairs p(send, to_buffer, at, bytes); p.next();)
        if (!cma_.write(to, p.remote(), p.remote_count(), p.local(), p.local_count(), p.bytes()))
            return false;
    return true;
}

bool ProgressEngine::should_send_layout(const Operation& send) {
    const Thresholds& t = thresholds(send.transport_peer);
    return t.should_coop_copy(send.bytes, {.mean_segment = mean_segment(send.layout)}) &&
           cma_.can_read(send.transport_peer) && !layout_rts_policy_[send.transport_peer].should_skip_rts();
}

bool ProgressEngine::can_coop_copy(const Operation& recv, const IncomingMessage& message,
                                   RemoteBuffer& from) {
    const bool has_source = message.has_layout || (message.address != 0 && message.data_bytes == 0);
    if (!has_source ||
        !thresholds(message.from)
             .should_coop_copy(recv.received, {message.arena_offset != 0, shm_.next_slot_ready(message.from),
                                               mean_segment(recv.layout)}) ||
        !cma_.can_read(message.from))
        return false;
    from.address = message.address;
    return !message.has_layout || layout_cache_.read(message.data, message.data_bytes, message.bytes, from);
}

// Returns true if the receive is done, or will be when the sender has written the chunks it claimed.
bool ProgressEngine::start_coop_copy(Operation& recv, const IncomingMessage& message) {
    RemoteBuffer from;
    if (!can_coop_copy(recv, message, from)) return false;
    if (active_coop_copies_ == wire::coop_copy_slots && poll_coop_copies() == 0) return false;
    CoopCopy& copy = *std::find_if(std::begin(coop_copies_), std::end(coop_copies_),
                                   [](const CoopCopy& c) { return c.recv == nullptr; });
    const auto index = static_cast<uint32_t>(&copy - coop_copies_);
    const uint64_t chunk_bytes = chunk_bytes_for(recv.received);
    if (table_.add(recv) == 0) return false; // from here on it is in the table, not in the matcher
    const uint32_t chunks = count_chunks(recv.received, chunk_bytes);
    copy = {&recv, message, std::move(from), nullptr, chunk_bytes, ++coop_sequence_, chunks, chunks,
            0,     false};
    if (message.arena_offset != 0) copy.view = arena_.view(message.from, message.arena_offset, message.bytes);
    ++active_coop_copies_;
    send_coop_offer(copy, index);
    wire::CoopCopySlot& slot = shm_.own_block().coop_copies[index];
    for (uint32_t chunk = 0; !copy.failed && take_chunk(slot, copy.sequence, copy.chunks, true, chunk);)
        if (copy_chunk(copy, chunk))
            ++copy.own_chunks;
        else
            close_coop_copy(copy);
    try_finish_coop_copy(copy);
    return true;
}

void ProgressEngine::send_coop_offer(const CoopCopy& copy, uint32_t index) {
    wire::CoopCopySlot& slot = shm_.own_block().coop_copies[index];
    slot.sender_chunks.store(0, std::memory_order_relaxed);
    slot.failed_chunk.store(0, std::memory_order_relaxed);
    slot.taken.store(uint64_t{copy.sequence} << 32, std::memory_order_release); // pairs with take_chunk()
    const Operation& recv = *copy.recv;
    const wire::CoopOffer offer{copy.message.sender,
                                index,
                                copy.sequence,
                                static_cast<uint32_t>(copy.chunk_bytes),
                                reinterpret_cast<uint64_t>(recv.buffer),
                                recv.received};
    const wire::Envelope e{wire::MessageKind::coop_offer, 0, 0, 0, 0, 0, 0, 0};
    const auto* const payload = reinterpret_cast<const std::byte*>(&offer);
    // Best effort: if the ring is full or the layout does not fit, the receiver copies alone.
    if (recv.layout == nullptr) {
        static_cast<void>(shm_.send_inline(copy.message.from, e, payload, sizeof offer));
        return;
    }
    const LayoutRecord record(recv);
    if (record.used != 0)
        static_cast<void>(
            shm_.send_bulk(copy.message.from, e, payload, sizeof offer, {record.data(), record.bytes()}));
}

// After a failed CMA call: no more chunks can be claimed.
void ProgressEngine::close_coop_copy(CoopCopy& copy) {
    copy.failed = true;
    const uint64_t before =
        shm_.own_block().coop_copies[&copy - coop_copies_].taken.exchange(0, std::memory_order_acq_rel);
    copy.taken_chunks = chunks_taken(before);
}

// Waits until the sender has finished its chunks: the buffer is reused after return.
void ProgressEngine::abandon_coop_copy(const Operation& recv) {
    for (CoopCopy& copy : coop_copies_) {
        if (copy.recv != &recv) continue;
        const wire::CoopCopySlot& slot = shm_.own_block().coop_copies[&copy - coop_copies_];
        const uint32_t own_chunks = copy.own_chunks + (copy.failed ? 1 : 0);
        if (!copy.failed) close_coop_copy(copy);
        const auto& sender = shm_.segment().block(copy.message.from).state; // a failed sender writes no more
        while (own_chunks + slot.sender_chunks.load(std::memory_order_acquire) +
                       (slot.failed_chunk.load(std::memory_order_acquire) != 0 ? 1 : 0) <
                   copy.taken_chunks &&
               sender.load(std::memory_order_acquire) != static_cast<uint32_t>(wire::RankState::failed))
            os::cpu_relax();
        copy.recv = nullptr;
        --active_coop_copies_;
    }
}

// Returns false while the sender has not finished its chunks. If CMA was denied in between, the whole message
// is requested again in fragments.
bool ProgressEngine::try_finish_coop_copy(CoopCopy& copy) {
    wire::CoopCopySlot& slot = shm_.own_block().coop_copies[&copy - coop_copies_];
    // seq_cst: this is also the last check before a sleep. Pairs with on_coop_offer().
    const uint32_t sender_chunks = slot.sender_chunks.load(std::memory_order_seq_cst);
    const uint32_t refused = slot.failed_chunk.load(std::memory_order_seq_cst);
    if (copy.own_chunks + (copy.failed ? 1 : 0) + sender_chunks + (refused != 0 ? 1 : 0) < copy.taken_chunks)
        return false;
    if (refused != 0 && !copy.failed) copy.failed = refused > copy.chunks || !copy_chunk(copy, refused - 1);
    slot.taken.store(0, std::memory_order_release);
    Operation& recv = *copy.recv;
    const IncomingMessage message = copy.message;
    copy.recv = nullptr;
    --active_coop_copies_;
    table_.remove(recv);
    if (copy.failed) {
        request_fragments(recv, message);
        return true;
    }
    counters().add(Counter::coop_copies);
    const wire::Ack ack{message.sender};
    reply(message, wire::MessageKind::ack, &ack, sizeof ack);
    finish(recv);
    return true;
}

int ProgressEngine::poll_coop_copies() {
    int happened = 0;
    for (CoopCopy& copy : coop_copies_)
        if (copy.recv != nullptr && try_finish_coop_copy(copy)) ++happened;
    return happened;
}

void ProgressEngine::on_coop_offer(const transport::Arrival& a) {
    wire::CoopOffer offer{};
    if (a.envelope.inline_bytes != sizeof offer) return;
    std::memcpy(&offer, a.payload, sizeof offer);
    const Operation* op = find_peer_operation(a, offer.sender, Operation::Kind::send);
    if (op == nullptr || offer.slot >= wire::coop_copy_slots || offer.bytes > op->bytes ||
        offer.chunk_bytes < min_chunk)
        return;
    RemoteBuffer buffer;
    buffer.address = offer.address;
    if (a.bulk != nullptr && !layout_cache_.read(a.bulk, a.bulk_bytes, offer.bytes, buffer)) return;
    const uint32_t chunks = count_chunks(offer.bytes, offer.chunk_bytes);
    wire::CoopCopySlot& slot = shm_.segment().block(a.from).coop_copies[offer.slot];
    bool copied_any = false;
    for (uint32_t chunk = 0;
         cma_.can_write(a.from) && take_chunk(slot, offer.number, chunks, false, chunk);) {
        const uint64_t at = chunk_offset(offer.chunk_bytes, chunk);
        copied_any = true;
        // seq_cst: see try_finish_coop_copy().
        if (write_chunk(*op, a.from, buffer, at, chunk_length(offer.bytes, offer.chunk_bytes, chunk))) {
            slot.sender_chunks.fetch_add(1, std::memory_order_seq_cst);
        } else {
            slot.failed_chunk.store(chunk + 1, std::memory_order_seq_cst);
            break;
        }
    }
    if (copied_any) shm_.wake_if_asleep(a.from);
}

} // namespace zipmpi::proto
