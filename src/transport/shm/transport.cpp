// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/transport.hpp"

#include "base/param.hpp"
#include "os/futex.hpp"
#include "os/membarrier.hpp"

#include <unistd.h>

namespace zipmpi::transport::shm {
namespace {

static_assert(transport::Transport<Transport>);

Param<std::string> queues{
    "shm.queues",
    "watched",
    "watched|pairs|expected|shared",
    Level::tuner,
    Scope::all_equal,
    "how a rank learns of messages: it watches the rings of a few senders and a bitmap for the others "
    "(watched), looks at all rings (pairs), at those from which it expects something (expected), or all "
    "senders put into one ring (shared)"};

Design design_of(const std::string& word) {
    if (word == "pairs") return Design::pairs;
    if (word == "expected") return Design::expected;
    return word == "shared" ? Design::shared : Design::watched;
}

bool enough_cpus(const boot::NodeSegment& segment) {
    return segment.local_ranks() <= segment.header().usable_cpus.load(std::memory_order_relaxed);
}

} // namespace

Transport::Transport(const boot::NodeSegment& segment, uint32_t self)
    : segment_(segment)
    , block_(&segment.block(self))
    , self_(self)
    , arrival_words_((segment.local_ranks() + 63) / 64)
    , design_(design_of(queues.get()))
    , takes_part_(os::register_for_barriers())
    , caps_{wire::inline_max, wire::inline_max_with_cell, segment.geometry().cell_bytes}
    , out_(segment.local_ranks())
    , in_(segment.local_ranks())
    , most_watched_(segment.local_ranks() <= watch_slots + 1 ? watch_slots : few_watched)
    , watch_after_(segment.local_ranks() <= watch_slots + 1 ? 1 : std::max(4U, segment.local_ranks()))
    , rings_(segment.local_ranks())
    , cells_(segment, self) {
    for (uint32_t i = 0; i < segment.local_ranks(); ++i) {
        identity_ &= segment.world_rank(i) == static_cast<int>(i);
        in_[i].ring = &segment.ring(self, i);
    }
    block_->pid.store(getpid(), std::memory_order_seq_cst); // NodeSegment::tell_facts() follows
    if (takes_part_ && enough_cpus(segment)) block_->fences_for_all.store(1, std::memory_order_seq_cst);
    // Without memory for its own queue a rank of this design could not even look whether something came.
    if (design_ == Design::shared && !open(self_)) design_ = Design::watched;
}

int Transport::search(int world_rank) const {
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

// Also the ring of the way back: a peer that has got a message can always answer it (attach()).
bool Transport::open(Peer peer) {
    const wire::Geometry& g = segment_.geometry();
    if (design_ == Design::shared) {
        const uint64_t bytes = (wire::shared_ring_lines(segment_.local_ranks()) + 2) * wire::line_size;
        if (!segment_.reserve(g.ring_offset(peer, 0), bytes) ||
            !segment_.reserve(g.ring_offset(self_, 0), bytes))
            return false;
        out_[peer].ring = &segment_.ring(peer, 0);
        return true;
    }
    if (!segment_.reserve(g.ring_offset(peer, self_), sizeof(wire::Ring)) ||
        !segment_.reserve(g.ring_offset(self_, peer), sizeof(wire::Ring)))
        return false;
    attach(peer);
    return true;
}

// The ring to this peer exists. A receiver that looks at rings without a bitmap has to know of it.
void Transport::attach(Peer peer) {
    out_[peer].ring = &segment_.ring(peer, self_);
    if (design_ != Design::watched) announce(segment_.block(peer), uint64_t{1} << (self_ % 64));
}

void Transport::announce(wire::RankBlock& to, uint64_t bit) {
    to.arrivals[self_ / 64].fetch_or(bit, std::memory_order_seq_cst);
}

void Transport::mark_blocked(Peer peer) {
    block_->counters.add(Counter::ring_full);
    if (design_ == Design::expected && out_[peer].called_at != out_[peer].produced) {
        out_[peer].called_at = out_[peer].produced; // reading them all makes room: no need to call again
        call(peer);
    }
    if (out_[peer].blocked) return;
    out_[peer].blocked = true;
    blocked_.push_back(peer);
}

Transport::Spot Transport::claim_shared(Peer peer, uint32_t lines, Sent& why) {
    if (out_[peer].ring == nullptr && !open(peer)) {
        why = Sent::no_memory;
        return {};
    }
    auto& ring = reinterpret_cast<wire::SharedRing&>(*out_[peer].ring);
    const uint32_t capacity = wire::shared_ring_lines(segment_.local_ranks());
    uint32_t tail = ring.tail.load(std::memory_order_relaxed);
    do {
        // Pairs with the store in give_back_shared(); seq_cst because it is also the last look after arm().
        const uint32_t used = tail - ring.consumed.load(std::memory_order_seq_cst);
        if (used + lines > capacity) {
            mark_blocked(peer);
            why = Sent::would_block;
            return {};
        }
    } while (!ring.tail.compare_exchange_weak(tail, tail + lines, std::memory_order_relaxed));
    return {ring.line, capacity, tail % capacity, tail + 1, self_};
}

// A message of medium size in consecutive lines: no cell to be fetched and freed.
void Transport::send_lines(Peer peer, const Spot& spot, uint32_t lines, const wire::Envelope& envelope,
                           const std::byte* bytes, size_t n) {
    wire::RingLine& first = spot.at(0);
    size_t at = wire::inline_max;
    for (uint32_t i = 1; i < lines; ++i, at += wire::continuation_bytes) {
        auto& next = reinterpret_cast<wire::Continuation&>(spot.at(i));
        next.mark.store(spot.mark(i, design_), std::memory_order_relaxed);
        std::memcpy(next.bytes, bytes + at, std::min(wire::continuation_bytes, n - at));
    }
    std::memcpy(first.payload, bytes, wire::inline_max);
    first.envelope = envelope;
    first.envelope.flags |= wire::flag_lines;
    first.envelope.inline_bytes = static_cast<uint8_t>(n + wire::continuation_bytes - at);
    first.envelope.more_lines = static_cast<uint8_t>(lines - 1);
    publish(peer, spot, lines);
}

namespace {

// Another rank has read a cell last: asking for its lines before many short pieces are written into it is
// worth a tenth.
void ask_for_lines(const std::byte* cell, size_t bytes) {
    constexpr size_t most = 8192;
    for (size_t i = 0; i < std::min(bytes, most); i += wire::line_size) os::prefetch_to_write(cell + i);
}

} // namespace

Sent Transport::send_bulk(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes,
                          const Bulk& bulk) {
    Sent why = Sent::ok;
    if (bytes == 0 && bulk.bytes > wire::inline_max && bulk.bytes <= wire::lines_max) {
        const auto lines = static_cast<uint32_t>(
            1 + (bulk.bytes + wire::continuation_bytes - 1 - wire::inline_max) / wire::continuation_bytes);
        const Spot spot = claim(peer, lines, why);
        if (spot.lines == nullptr) return why;
        std::byte written[wire::lines_max];
        if (bulk.write != nullptr) bulk.copy_to(written);
        send_lines(peer, spot, lines, envelope, bulk.write != nullptr ? written : bulk.at, bulk.bytes);
        return Sent::ok;
    }
    bool none_made = false;
    const int cell = cells_.take(none_made, bulk.buffers);
    if (cell < 0) {
        block_->counters.add(Counter::no_cell);
        // With fewer cells than allowed one has to wait for them; without any there is nothing to wait for.
        if (!none_made) wait_for_cell();
        return none_made ? Sent::no_memory : Sent::would_block;
    }
    const Spot spot = claim(peer, 1, why);
    if (spot.lines == nullptr) {
        cells_.put_back(cell);
        return why;
    }
    std::byte* const to = segment_.cell(self_, static_cast<uint32_t>(cell)) + wire::line_size;
    if (bulk.write != nullptr && !cells_.is_warm(cell, bulk.bytes)) ask_for_lines(to, bulk.bytes);
    bulk.copy_to(to);
    wire::RingLine& line = spot.at(0);
    line.envelope = envelope;
    line.envelope.inline_bytes = static_cast<uint8_t>(bytes);
    line.envelope.flags |= wire::flag_cell;
    if (bytes != 0) std::memcpy(line.payload, payload, bytes);
    const wire::CellRef ref = cells_.send(cell, bulk.bytes, peer);
    std::memcpy(line.payload + wire::inline_max_with_cell, &ref, sizeof ref);
    block_->counters.add(Counter::cells);
    publish(peer, spot, 1);
    return Sent::ok;
}

bool Transport::makes_sense(const wire::Envelope& envelope, const wire::CellRef& ref) const {
    const wire::Geometry& g = segment_.geometry();
    return envelope.inline_bytes <= wire::inline_max_with_cell && ref.cell < g.cells_per_rank &&
           ref.bytes <= g.cell_bytes;
}

// The reference has been checked.
void Transport::release_cell(Peer owner, const wire::CellRef& ref) {
    auto* head = reinterpret_cast<wire::CellHead*>(segment_.cell(owner, ref.cell));
    wire::RankBlock& block = segment_.block(owner);
    // As in publish(), with the owner's arm(): either it sees the free cell, or we see that it wants one.
    if (takes_part_ && block.fences_for_all.load(std::memory_order_acquire) != 0)
        head->released.store(ref.turn, std::memory_order_release);
    else
        head->released.store(ref.turn, std::memory_order_seq_cst);
    if (block.wants_cell.load(std::memory_order_seq_cst) != 0) {
        block.wants_cell.store(0, std::memory_order_relaxed);
        wake(block);
    }
}

// A sender has come by the bitmap often enough: it takes the place of the watched one that came least.
void Transport::consider(Peer from) {
    in_[from].by_bitmap = 0;
    in_[from].watched = true;
    if (watching_ < most_watched_) {
        watch_[watching_++] = {from, 0};
    } else {
        Watch* least = std::min_element(watch_, watch_ + watching_,
                                        [](const Watch& a, const Watch& b) { return a.hits < b.hits; });
        for (uint32_t i = 0; i < watching_; ++i) watch_[i].hits /= 2;
        const Peer gone = least->peer;
        in_[gone].watched = false;
        *least = {from, 0};
        block_->watched[gone / 64].fetch_and(~(uint64_t{1} << (gone % 64)), std::memory_order_seq_cst);
        leaving_.push_back(gone);
        leaving_settled_ = false;
        if (leaving_.size() > most_watched_) { // more to look at than is saved: settle it
            if (takes_part_) os::barrier_for_all();
            leaving_settled_ = true;
        }
    }
    block_->watched[from / 64].fetch_or(uint64_t{1} << (from % 64), std::memory_order_seq_cst);
}

// They may lie in rings that nobody reads because nothing is expected from us.
void Transport::wait_for_cell() {
    cell_wanted_ = true;
    if (design_ == Design::expected) cells_.for_new_readers([this](uint32_t reader) { call(reader); });
}

// If another thread of this process sleeps, it has not looked at this ring, and whoever sent the lines that
// lie there wakes nobody any more.
void Transport::expect(int peer, int change) {
    const auto from = static_cast<Peer>(peer);
    if (peer < 0 ? rings_.count_any(change) : rings_.count(from, change) && line_waits(from)) wake_own();
}

void Transport::give_back(Peer from, Incoming& in) {
    wire::Ring& ring = *in.ring;
    in.given_back = in.taken;
    // As in publish(), with the producer's arm(): either it sees the room, or we see that it waits for room.
    if (takes_part_ && segment_.block(from).fences_for_all.load(std::memory_order_acquire) != 0)
        ring.consumed.store(in.taken, std::memory_order_release);
    else
        ring.consumed.store(in.taken, std::memory_order_seq_cst);
    if (ring.producer_waits.load(std::memory_order_seq_cst) != 0) {
        ring.producer_waits.store(0, std::memory_order_relaxed);
        wake(segment_.block(from));
    }
}

void Transport::give_back_shared(wire::SharedRing& ring) {
    shared_given_back_ = shared_taken_;
    ring.consumed.store(shared_taken_, std::memory_order_seq_cst);
    if (ring.producers_wait.load(std::memory_order_seq_cst) == 0) return;
    ring.producers_wait.store(0, std::memory_order_seq_cst);
    for (uint32_t w = 0; w < arrival_words_; ++w)
        for (uint64_t bits = block_->arrivals[w].exchange(0, std::memory_order_seq_cst); bits != 0;
             bits &= bits - 1) {
            const uint32_t peer = w * 64 + static_cast<uint32_t>(std::countr_zero(bits));
            if (peer < in_.size()) wake(segment_.block(peer));
        }
}

void Transport::wake(wire::RankBlock& block) {
    block.wake.fetch_add(1, std::memory_order_seq_cst);
    block_->counters.add(Counter::wakes_sent);
    if (&block == block_) ++own_wakes_;
    if (const uint64_t bell = block.wake_socket.load(std::memory_order_relaxed); bell != 0) {
        // One that is about to sleep and not counted yet finds that the word has changed.
        if (block.descriptor_sleepers.load(std::memory_order_seq_cst) != 0) bell_.ring(bell);
        if (block.futex_sleepers.load(std::memory_order_seq_cst) == 0) return;
    }
    if (const uint32_t woken = os::futex_wake_all(block.wake); woken != 0)
        segment_.asleep().fetch_sub(woken, std::memory_order_relaxed);
}

void Transport::wake_own() {
    if (block_->sleepers.load(std::memory_order_seq_cst) != 0) wake(*block_);
}

uint32_t Transport::arm() {
    const uint32_t ticket = block_->wake.load(std::memory_order_seq_cst);
    block_->sleepers.fetch_add(1, std::memory_order_seq_cst);
    for (const Peer peer : blocked_) {
        out_[peer].blocked = false; // whoever finds it still full marks it again
        if (design_ == Design::shared) {
            announce(segment_.block(peer), uint64_t{1} << (self_ % 64));
            reinterpret_cast<wire::SharedRing*>(out_[peer].ring)
                ->producers_wait.store(1, std::memory_order_seq_cst);
        } else {
            out_[peer].ring->producer_waits.store(1, std::memory_order_seq_cst);
        }
    }
    blocked_.clear();
    if (cell_wanted_) {
        cell_wanted_ = false;
        block_->wants_cell.store(1, std::memory_order_seq_cst);
    }
    // Where ranks share CPUs they sleep often and a barrier in each sender costs little; elsewhere the other
    // way round.
    if (takes_part_ &&
        (block_->fences_for_all.load(std::memory_order_relaxed) != 0 || enough_cpus(segment_))) {
        block_->fences_for_all.store(1, std::memory_order_seq_cst);
        os::barrier_for_all();
    }
    leaving_settled_ = true;
    return ticket;
}

bool Transport::sleep(uint32_t ticket, int64_t timeout_ns) {
    std::atomic<uint32_t>& asleep = segment_.asleep();
    asleep.fetch_add(1, std::memory_order_relaxed);
    block_->futex_sleepers.fetch_add(1, std::memory_order_seq_cst);
    const os::FutexWait how = os::futex_wait(block_->wake, ticket, timeout_ns);
    block_->futex_sleepers.fetch_sub(1, std::memory_order_relaxed);
    if (how != os::FutexWait::woken) asleep.fetch_sub(1, std::memory_order_relaxed);
    return how != os::FutexWait::timed_out;
}

bool Transport::hear_a_bell() {
    const uint64_t bell = bell_.hang();
    block_->wake_socket.store(bell, std::memory_order_release);
    return bell != 0;
}

bool Transport::sleep_on_descriptors(uint32_t ticket, int other, int64_t timeout_ns) {
    std::atomic<uint32_t>& asleep = segment_.asleep();
    asleep.fetch_add(1, std::memory_order_relaxed);
    // Either who wakes us sees this and rings, or we see that the word has changed.
    block_->descriptor_sleepers.fetch_add(1, std::memory_order_seq_cst);
    const bool woken =
        block_->wake.load(std::memory_order_seq_cst) != ticket || bell_.wait(other, timeout_ns);
    block_->descriptor_sleepers.fetch_sub(1, std::memory_order_relaxed);
    asleep.fetch_sub(1, std::memory_order_relaxed);
    return woken;
}

void Transport::hand_over_descriptors() {
    // Who is about to sleep is armed already, but perhaps not counted in futex_sleepers yet.
    if (block_->sleepers.load(std::memory_order_seq_cst) > 1) wake(*block_);
}

void Transport::disarm() { block_->sleepers.fetch_sub(1, std::memory_order_seq_cst); }

} // namespace zipmpi::transport::shm
