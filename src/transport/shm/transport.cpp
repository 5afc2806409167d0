// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/transport.hpp"

#include "os/futex.hpp"

#include <algorithm>

namespace zipmpi::transport::shm {

static_assert(transport::Transport<Transport>);

Transport::Transport(const boot::NodeSegment& segment, uint32_t self)
    : segment_(segment)
    , block_(&segment.block(self))
    , self_(self)
    , arrival_words_((segment.local_ranks() + 63) / 64)
    , caps_{wire::inline_max, wire::inline_max_with_cell, segment.geometry().cell_bytes}
    , out_(segment.local_ranks())
    , in_(segment.local_ranks()) {
    for (uint32_t i = 0; i < segment.local_ranks(); ++i)
        identity_ &= segment.world_rank(i) == static_cast<int>(i);
}

int Transport::reach(int world_rank) const {
    if (identity_) return world_rank < static_cast<int>(out_.size()) ? world_rank : -1;
    uint32_t low = 0;
    uint32_t high = segment_.local_ranks(); // world ranks ascend with the local index
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (segment_.world_rank(middle) < world_rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < segment_.local_ranks() && segment_.world_rank(low) == world_rank ? static_cast<int>(low)
                                                                                  : -1;
}

// Also the ring of the way back: a peer that has got a message can always answer it (drain() opens it there).
bool Transport::open(Peer peer) {
    const wire::Geometry& g = segment_.geometry();
    if (!segment_.reserve(g.ring_offset(peer, self_), sizeof(wire::Ring)) ||
        !segment_.reserve(g.ring_offset(self_, peer), sizeof(wire::Ring)))
        return false;
    out_[peer].ring = &segment_.ring(peer, self_);
    return true;
}

void Transport::mark_blocked(Peer peer) {
    block_->counters.add(Counter::ring_full);
    if (out_[peer].blocked) return;
    out_[peer].blocked = true;
    blocked_.push_back(peer);
}

wire::RingLine* Transport::claim(Peer peer, Sent& why) {
    Outgoing& o = out_[peer];
    if (o.ring == nullptr && !open(peer)) {
        why = Sent::no_memory;
        return nullptr;
    }
    if (o.produced - o.consumed_seen >= wire::ring_lines) {
        // Pairs with the store in give_back(): the consumer has read a line before it counts it as consumed.
        // seq_cst because it is also the last look after arm().
        const uint32_t consumed = o.ring->consumed.load(std::memory_order_seq_cst);
        if (o.produced - consumed >= wire::ring_lines) { // also true if the consumer wrote nonsense
            mark_blocked(peer);
            why = Sent::would_block;
            return nullptr;
        }
        o.consumed_seen = consumed;
    }
    return &o.ring->line[o.slot];
}

void Transport::publish(Peer peer, wire::RingLine& line) {
    Outgoing& o = out_[peer];
    ++o.produced;
    o.slot = o.slot + 1 == wire::ring_lines ? 0 : o.slot + 1;
    line.mark.store(o.produced, std::memory_order_release);
    wire::RankBlock& to = segment_.block(peer);
    // Both seq_cst: either we see the sleeper, or the sleeper's last look at the bitmap (after it counted
    // itself in) sees our bit. Pairs with arm().
    to.arrivals[self_ / 64].fetch_or(uint64_t{1} << (self_ % 64), std::memory_order_seq_cst);
    if (to.sleepers.load(std::memory_order_seq_cst) != 0) wake(to);
}

Sent Transport::send_short(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                           size_t bytes) {
    Sent why = Sent::ok;
    wire::RingLine* line = claim(peer, why);
    if (line == nullptr) return why;
    line->envelope = envelope;
    line->envelope.inline_bytes = static_cast<uint8_t>(bytes);
    if (bytes != 0) std::memcpy(line->payload, payload, bytes);
    publish(peer, *line);
    return Sent::ok;
}

Sent Transport::send_bulk(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes,
                          const std::byte* bulk, size_t bulk_bytes) {
    Sent why = Sent::ok;
    wire::RingLine* line = claim(peer, why);
    if (line == nullptr) return why;
    const int cell = take_cell(why);
    if (cell < 0) return why;
    std::byte* head = segment_.cell(self_, static_cast<uint32_t>(cell));
    std::memcpy(head + wire::line_size, bulk, bulk_bytes);
    reinterpret_cast<wire::CellHead*>(head)->busy.store(
        1, std::memory_order_relaxed); // published by the line's mark
    line->envelope = envelope;
    line->envelope.inline_bytes = static_cast<uint8_t>(bytes);
    line->envelope.flags |= wire::flag_cell;
    if (bytes != 0) std::memcpy(line->payload, payload, bytes);
    const wire::CellRef ref{static_cast<uint32_t>(cell), static_cast<uint32_t>(bulk_bytes)};
    std::memcpy(line->payload + wire::inline_max_with_cell, &ref, sizeof ref);
    block_->counters.add(Counter::cells);
    publish(peer, *line);
    return Sent::ok;
}

int Transport::take_cell(Sent& why) {
    const wire::Geometry& g = segment_.geometry();
    for (uint32_t i = 0; i < cells_made_; ++i) {
        const uint32_t cell = next_cell_;
        next_cell_ = next_cell_ + 1 == cells_made_ ? 0 : next_cell_ + 1;
        // Pairs with release_cell(): the reader is done with the bytes. seq_cst because it is also the last look
        // after arm().
        if (reinterpret_cast<wire::CellHead*>(segment_.cell(self_, cell))
                ->busy.load(std::memory_order_seq_cst) == 0)
            return static_cast<int>(cell);
    }
    if (cells_made_ < g.cells_per_rank &&
        segment_.reserve(g.cell_offset(self_, cells_made_), g.cell_stride()))
        return static_cast<int>(cells_made_++);
    block_->counters.add(Counter::no_cell);
    // With fewer cells than allowed one has to wait for them; without any there is nothing to wait for.
    why = cells_made_ == 0 ? Sent::no_memory : Sent::would_block;
    cell_wanted_ = cells_made_ != 0;
    return -1;
}

bool Transport::checked(Peer from, const wire::RingLine& line, const std::byte*& bulk,
                        size_t& bulk_bytes) const {
    const wire::Envelope& e = line.envelope;
    if ((e.flags & wire::flag_cell) == 0) return e.inline_bytes <= wire::inline_max;
    if (e.inline_bytes > wire::inline_max_with_cell) return false;
    wire::CellRef ref{};
    std::memcpy(&ref, line.payload + wire::inline_max_with_cell, sizeof ref);
    const wire::Geometry& g = segment_.geometry();
    if (ref.cell >= g.cells_per_rank || ref.bytes > g.cell_bytes) return false;
    bulk = segment_.cell(from, ref.cell) + wire::line_size;
    bulk_bytes = ref.bytes;
    return true;
}

void Transport::release_cell(Peer owner, const std::byte* bulk) {
    auto* head = reinterpret_cast<wire::CellHead*>(const_cast<std::byte*>(bulk) - wire::line_size);
    // seq_cst with the owner's arm(): either it sees the free cell, or we see that it wants one.
    head->busy.store(0, std::memory_order_seq_cst);
    wire::RankBlock& block = segment_.block(owner);
    if (block.wants_cell.load(std::memory_order_seq_cst) != 0) {
        block.wants_cell.store(0, std::memory_order_relaxed);
        wake(block);
    }
}

void Transport::give_back(Peer from, const Incoming& in) {
    wire::Ring& ring = segment_.ring(self_, from);
    // seq_cst with the producer's arm(): either it sees the room, or we see that it waits for room.
    ring.consumed.store(in.taken, std::memory_order_seq_cst);
    if (ring.producer_waits.load(std::memory_order_seq_cst) != 0) {
        ring.producer_waits.store(0, std::memory_order_relaxed);
        wake(segment_.block(from));
    }
}

void Transport::wake(wire::RankBlock& block) {
    block.wake.fetch_add(1, std::memory_order_seq_cst);
    os::futex_wake_all(block.wake);
    block_->counters.add(Counter::wakes_sent);
}

void Transport::wake_own() {
    if (block_->sleepers.load(std::memory_order_seq_cst) != 0) wake(*block_);
}

uint32_t Transport::arm() {
    const uint32_t ticket = block_->wake.load(std::memory_order_seq_cst);
    block_->sleepers.fetch_add(1, std::memory_order_seq_cst);
    for (const Peer peer : blocked_) {
        out_[peer].blocked = false; // whoever finds it still full marks it again
        out_[peer].ring->producer_waits.store(1, std::memory_order_seq_cst);
    }
    blocked_.clear();
    if (cell_wanted_) {
        cell_wanted_ = false;
        block_->wants_cell.store(1, std::memory_order_seq_cst);
    }
    return ticket;
}

bool Transport::sleep(uint32_t ticket, int64_t timeout_ns) {
    return os::futex_wait(block_->wake, ticket, timeout_ns) != os::FutexWait::timed_out;
}

void Transport::disarm() { block_->sleepers.fetch_sub(1, std::memory_order_seq_cst); }

} // namespace zipmpi::transport::shm
