// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/transport.hpp"

#include "os/futex.hpp"

#include <algorithm>
#include <unistd.h>

namespace zipmpi::transport::shm {

static_assert(transport::Transport<Transport>);

Transport::Transport(const boot::NodeSegment& segment, uint32_t self)
    : segment_(segment)
    , block_(&segment.block(self))
    , self_(self)
    , arrival_words_((segment.local_ranks() + 63) / 64)
    , caps_{wire::inline_max, wire::inline_max_with_cell, segment.geometry().cell_bytes}
    , out_(segment.local_ranks())
    , in_(segment.local_ranks())
    , watch_after_(segment.local_ranks() <= watch_slots + 1 ? 1 : std::max(4U, segment.local_ranks())) {
    for (uint32_t i = 0; i < segment.local_ranks(); ++i)
        identity_ &= segment.world_rank(i) == static_cast<int>(i);
    block_->pid.store(getpid(), std::memory_order_relaxed);
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

bool Transport::room_for(Peer peer, uint32_t lines) {
    Outgoing& o = out_[peer];
    if (o.produced - o.consumed_seen + lines <= wire::ring_lines) return true;
    const uint32_t consumed = o.ring->consumed.load(std::memory_order_acquire); // as in claim()
    if (o.produced - consumed > wire::ring_lines) return false;
    o.consumed_seen = consumed;
    return o.produced - consumed + lines <= wire::ring_lines;
}

// Makes lines visible that start with this one; the others have been written before.
void Transport::publish(Peer peer, wire::RingLine& line, uint32_t lines) {
    Outgoing& o = out_[peer];
    const uint32_t first = o.produced + 1;
    o.produced += lines;
    o.slot = (o.slot + lines) % wire::ring_lines;
    // seq_cst, all four: either we see that the receiver does not watch this ring (any more) and announce the
    // line, or the receiver's look at the ring after it stopped watching sees the line (consider()). And
    // either we see the sleeper, or the sleeper's last look, after it counted itself in, sees line or bit
    // (arm()).
    line.mark.store(first, std::memory_order_seq_cst);
    wire::RankBlock& to = segment_.block(peer);
    const uint64_t bit = uint64_t{1} << (self_ % 64);
    if ((to.watched[self_ / 64].load(std::memory_order_seq_cst) & bit) == 0)
        to.arrivals[self_ / 64].fetch_or(bit, std::memory_order_seq_cst);
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
    publish(peer, *line, 1);
    return Sent::ok;
}

// A message of medium size in consecutive lines: no cell to be fetched, marked and freed. There is room for
// them.
void Transport::send_lines(Peer peer, const wire::Envelope& envelope, const std::byte* bytes, size_t n) {
    const Outgoing& o = out_[peer];
    wire::RingLine& first = o.ring->line[o.slot];
    std::memcpy(first.payload, bytes, wire::inline_max);
    uint32_t more = 0;
    size_t last = 0;
    for (size_t at = wire::inline_max; at < n; at += wire::continuation_bytes) {
        ++more;
        last = std::min(wire::continuation_bytes, n - at);
        auto& next = reinterpret_cast<wire::Continuation&>(o.ring->line[(o.slot + more) % wire::ring_lines]);
        next.mark.store(o.produced + 1 + more, std::memory_order_relaxed);
        std::memcpy(next.bytes, bytes + at, last);
    }
    first.envelope = envelope;
    first.envelope.flags |= wire::flag_lines;
    first.envelope.inline_bytes = static_cast<uint8_t>(last);
    first.envelope.more_lines = static_cast<uint8_t>(more);
    publish(peer, first, 1 + more);
}

// Puts a message of several lines together; slot is that of the second. 0 if its envelope makes no sense.
size_t Transport::gather_lines(const wire::Ring& ring, uint32_t slot, const wire::RingLine& first,
                               std::byte* to) const {
    const uint32_t more = first.envelope.more_lines;
    const size_t last = first.envelope.inline_bytes;
    if (more == 0 || more > wire::max_more_lines || last == 0 || last > wire::continuation_bytes) return 0;
    std::memcpy(to, first.payload, wire::inline_max);
    size_t at = wire::inline_max;
    for (uint32_t i = 0; i < more; ++i) {
        const auto& next =
            reinterpret_cast<const wire::Continuation&>(ring.line[(slot + i) % wire::ring_lines]);
        const size_t n = i + 1 == more ? last : wire::continuation_bytes;
        std::memcpy(to + at, next.bytes, n);
        at += n;
    }
    return at;
}

Sent Transport::send_bulk(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes,
                          const std::byte* bulk, size_t bulk_bytes) {
    Sent why = Sent::ok;
    wire::RingLine* line = claim(peer, why);
    if (line == nullptr) return why;
    const auto lines = static_cast<uint32_t>(
        1 + (bulk_bytes + wire::continuation_bytes - 1 - wire::inline_max) / wire::continuation_bytes);
    if (bytes == 0 && bulk_bytes > wire::inline_max && bulk_bytes <= wire::lines_max &&
        room_for(peer, lines)) {
        send_lines(peer, envelope, bulk, bulk_bytes);
        return Sent::ok;
    }
    const int cell = take_cell(bytes != 0, why);
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
    publish(peer, *line, 1);
    return Sent::ok;
}

// Single messages use the first free cell, so that few cells are used while few are needed and stay in the
// caches; the parts of a stream go round, because a cell that the reader has just freed is still in the
// reader's cache.
int Transport::take_cell(bool stream, Sent& why) {
    const wire::Geometry& g = segment_.geometry();
    for (uint32_t i = 0; i < cells_made_; ++i) {
        const uint32_t cell = stream ? (next_cell_ + i) % cells_made_ : i;
        // Pairs with release_cell(): the reader is done with the bytes. seq_cst because it is also the last
        // look after arm().
        if (reinterpret_cast<wire::CellHead*>(segment_.cell(self_, cell))
                ->busy.load(std::memory_order_seq_cst) != 0)
            continue;
        next_cell_ = cell + 1;
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

// A sender has come by the bitmap often enough: it takes the place of the watched one that came least.
void Transport::consider(Peer from) {
    in_[from].by_bitmap = 0;
    if (watching_ < watch_slots) {
        watch_[watching_++] = {from, 0};
    } else {
        Watch* least = std::min_element(std::begin(watch_), std::end(watch_),
                                        [](const Watch& a, const Watch& b) { return a.hits < b.hits; });
        for (Watch& w : watch_) w.hits /= 2;
        const Peer gone = least->peer;
        *least = {from, 0};
        block_->watched[gone / 64].fetch_and(~(uint64_t{1} << (gone % 64)), std::memory_order_seq_cst);
        unwatched_.push_back(gone); // a line put there while it was watched was not announced
    }
    block_->watched[from / 64].fetch_or(uint64_t{1} << (from % 64), std::memory_order_seq_cst);
}

void Transport::give_back(Peer from, Incoming& in) {
    wire::Ring& ring = segment_.ring(self_, from);
    in.given_back = in.taken;
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
