// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/coop_copy.hpp"

#include "os/clock.hpp"
#include "proto/p2p/payload.hpp"
#include "proto/p2p/rendezvous_event.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace zipmpi::proto {

bool CoopCopier::read_chunk(const CoopCopy& copy, uint32_t chunk) {
    const uint64_t at = chunk_offset(copy.chunk_bytes, chunk);
    const uint64_t bytes = chunk_length(copy.recv->received, copy.chunk_bytes, chunk);
    if (copy.view != nullptr) {
        store_payload(*copy.recv, at, copy.view + at, bytes);
        return true;
    }
    if (copy.recv->layout == nullptr && copy.from.layout == nullptr)
        return node_.cma.read(copy.message.from, copy.from.address + at, copy.recv->buffer + at, bytes);
    for (IovPairs p(*copy.recv, copy.from, at, bytes); p.next();)
        if (!node_.cma.read(copy.message.from, p.remote(), p.remote_count(), p.local(), p.local_count(),
                            p.bytes()))
            return false;
    return true;
}

bool CoopCopier::write_chunk(const Operation& send, transport::Peer to, const RemoteBuffer& to_buffer,
                             uint64_t at, uint64_t bytes) {
    if (send.layout == nullptr && to_buffer.layout == nullptr)
        return node_.cma.write(to, to_buffer.address + at, send.buffer + at, bytes);
    for (IovPairs p(send, to_buffer, at, bytes); p.next();)
        if (!node_.cma.write(to, p.remote(), p.remote_count(), p.local(), p.local_count(), p.bytes()))
            return false;
    return true;
}

bool CoopCopier::is_possible(const Operation& recv, const IncomingMessage& message, RemoteBuffer& from) {
    const bool has_source = message.has_layout || (message.address != 0 && message.data_bytes == 0);
    if (!has_source ||
        !paths_.thresholds(message.from)
             .should_coop_copy(recv.received, {message.arena_offset != 0,
                                               node_.shm.receive_rings().next_slot_ready(message.from),
                                               PathPolicy::mean_segment(recv.layout)}) ||
        !node_.cma.can_read(message.from))
        return false;
    from.address = message.address;
    return !message.has_layout || layouts_.read(message.data, message.data_bytes, message.bytes, from);
}

bool CoopCopier::start(Operation& recv, const IncomingMessage& message) {
    RemoteBuffer from;
    if (!is_possible(recv, message, from)) return false;
    if (active_ == wire::coop_copy_slots && poll_active() == 0) return false;
    CoopCopy& copy = *std::find_if(std::begin(copies_), std::end(copies_),
                                   [](const CoopCopy& c) { return c.recv == nullptr; });
    const uint64_t chunk_bytes = chunk_bytes_for(recv.received);
    if (table_.add(recv) == 0) return false; // from here on it is in the table, not in the matcher
    const uint32_t chunks = count_chunks(recv.received, chunk_bytes);
    copy = {&recv, message, std::move(from), nullptr, chunk_bytes, ++sequence_, chunks, chunks, 0, false};
    if (message.arena_offset != 0)
        copy.view = node_.arena.view(message.from, message.arena_offset, message.bytes);
    ++active_;
    raise_rendezvous_copy(node_.events, recv, RendezvousPath::coop);
    send_offer(copy);
    wire::CoopCopySlot& slot = slot_of(copy);
    for (uint32_t chunk = 0;
         !copy.failed && take_chunk(slot, copy.sequence, copy.chunks, ChunkEnd::front, chunk);)
        if (read_chunk(copy, chunk))
            ++copy.own_chunks;
        else
            close(copy);
    try_finish(copy);
    return true;
}

void CoopCopier::send_offer(const CoopCopy& copy) {
    wire::CoopCopySlot& slot = slot_of(copy);
    slot.sender_chunks.store(0, std::memory_order_relaxed);
    slot.failed_chunk.store(0, std::memory_order_relaxed);
    slot.taken.store(uint64_t{copy.sequence} << 32, std::memory_order_release); // pairs with take_chunk()
    const Operation& recv = *copy.recv;
    const wire::CoopOffer offer{copy.message.sender,
                                static_cast<uint32_t>(&copy - copies_),
                                copy.sequence,
                                static_cast<uint32_t>(copy.chunk_bytes),
                                reinterpret_cast<uint64_t>(recv.buffer),
                                recv.received};
    const wire::Envelope e{wire::MessageKind::coop_offer, 0, 0, 0, 0, 0, 0, 0};
    const auto* const payload = reinterpret_cast<const std::byte*>(&offer);
    // Best effort: if the ring is full or the layout does not fit, the receiver copies alone.
    if (recv.layout == nullptr) {
        static_cast<void>(node_.shm.send_inline(copy.message.from, e, payload, sizeof offer));
        return;
    }
    const LayoutRecord record(recv);
    if (record.used != 0)
        static_cast<void>(node_.shm.send_bulk(copy.message.from, e, payload, sizeof offer,
                                              {record.data(), record.bytes()}));
}

// After a failed CMA call: no more chunks can be claimed.
void CoopCopier::close(CoopCopy& copy) {
    copy.failed = true;
    const uint64_t before = slot_of(copy).taken.exchange(0, std::memory_order_acq_rel);
    copy.taken_chunks = chunks_taken(before);
}

void CoopCopier::release(CoopCopy& copy) {
    copy.recv = nullptr;
    --active_;
}

void CoopCopier::abandon_active(const Operation& recv) {
    for (CoopCopy& copy : copies_) {
        if (copy.recv != &recv) continue;
        const wire::CoopCopySlot& slot = slot_of(copy);
        const uint32_t own_chunks = copy.own_chunks + (copy.failed ? 1 : 0);
        if (!copy.failed) close(copy);
        // A failed sender writes no more.
        const auto& sender = node_.shm.segment().block(copy.message.from).state;
        while (own_chunks + slot.sender_chunks.load(std::memory_order_acquire) +
                       (slot.failed_chunk.load(std::memory_order_acquire) != 0 ? 1 : 0) <
                   copy.taken_chunks &&
               sender.load(std::memory_order_acquire) != static_cast<uint32_t>(wire::RankState::failed))
            os::cpu_relax();
        release(copy);
    }
}

void CoopCopier::drop(const Operation& recv) {
    for (CoopCopy& copy : copies_) {
        if (copy.recv != &recv) continue;
        slot_of(copy).taken.store(0, std::memory_order_release);
        release(copy);
    }
}

// Returns false while the sender has not finished its chunks. If CMA was denied in between, the whole message
// is requested again in fragments.
bool CoopCopier::try_finish(CoopCopy& copy) {
    wire::CoopCopySlot& slot = slot_of(copy);
    // seq_cst: this is also the last check before a sleep. Pairs with on_offer().
    const uint32_t sender_chunks = slot.sender_chunks.load(std::memory_order_seq_cst);
    const uint32_t refused = slot.failed_chunk.load(std::memory_order_seq_cst);
    if (copy.own_chunks + (copy.failed ? 1 : 0) + sender_chunks + (refused != 0 ? 1 : 0) < copy.taken_chunks)
        return false;
    if (refused != 0 && !copy.failed) copy.failed = refused > copy.chunks || !read_chunk(copy, refused - 1);
    slot.taken.store(0, std::memory_order_release);
    Operation& recv = *copy.recv;
    const IncomingMessage message = copy.message;
    release(copy);
    table_.remove(recv);
    if (copy.failed) {
        fragments_.request(recv, message);
        return true;
    }
    node_.counters().add(Counter::coop_copies);
    replier_.acknowledge(message);
    completion_.finish(recv);
    return true;
}

int CoopCopier::poll_active() {
    int happened = 0;
    for (CoopCopy& copy : copies_)
        if (copy.recv != nullptr && try_finish(copy)) ++happened;
    return happened;
}

void CoopCopier::on_offer(const Operation& send, const wire::CoopOffer& offer, const transport::Arrival& a) {
    if (offer.slot >= wire::coop_copy_slots || offer.bytes > send.bytes || offer.chunk_bytes < min_chunk)
        return;
    RemoteBuffer buffer;
    buffer.address = offer.address;
    if (a.bulk != nullptr && !layouts_.read(a.bulk, a.bulk_bytes, offer.bytes, buffer)) return;
    const uint32_t chunks = count_chunks(offer.bytes, offer.chunk_bytes);
    wire::CoopCopySlot& slot = node_.shm.segment().block(a.from).coop_copies[offer.slot];
    bool copied_any = false;
    for (uint32_t chunk = 0;
         node_.cma.can_write(a.from) && take_chunk(slot, offer.number, chunks, ChunkEnd::back, chunk);) {
        const uint64_t at = chunk_offset(offer.chunk_bytes, chunk);
        copied_any = true;
        // seq_cst: see try_finish().
        if (write_chunk(send, a.from, buffer, at, chunk_length(offer.bytes, offer.chunk_bytes, chunk))) {
            slot.sender_chunks.fetch_add(1, std::memory_order_seq_cst);
        } else {
            slot.failed_chunk.store(chunk + 1, std::memory_order_seq_cst);
            break;
        }
    }
    if (copied_any) node_.shm.wake_if_asleep(a.from);
}

} // namespace zipmpi::proto
