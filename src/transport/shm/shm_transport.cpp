// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/shm_transport.hpp"

#include "base/param.hpp"
#include "os/futex.hpp"
#include "os/membarrier.hpp"

#include <unistd.h>

namespace zipmpi::transport::shm {
namespace {

static_assert(transport::Transport<ShmTransport>);

Param<std::string> poll_mode_param{
    "shm.poll_mode",
    "hybrid",
    "hybrid|all_rings|expected|mpsc",
    Level::tuner,
    Scope::job_wide,
    "how a rank detects messages of its node: polls the rings of a few senders and a bitmap for the others "
    "(hybrid), all rings (all_rings), those from which it expects something (expected), or one ring that all "
    "senders write (mpsc)"};

PollMode parse_poll_mode(const std::string& text) {
    if (text == "all_rings") return PollMode::all_rings;
    if (text == "expected") return PollMode::expected;
    return text == "mpsc" ? PollMode::mpsc : PollMode::hybrid;
}

bool enough_cpus(const segment::NodeSegment& segment) {
    return segment.local_ranks() <= segment.header().usable_cpus.load(std::memory_order_relaxed);
}

} // namespace

ShmTransport::ShmTransport(const segment::NodeSegment& segment, uint32_t self)
    : segment_(segment)
    , block_(&segment.block(self))
    , self_(self)
    , arrival_words_((segment.local_ranks() + 63) / 64)
    , mode_(parse_poll_mode(poll_mode_param.get()))
    , uses_membarrier_(os::register_membarrier())
    , caps_{wire::inline_max, wire::inline_max_with_cell, segment.geometry().cell_bytes}
    , out_(segment.local_ranks())
    , in_(segment.local_ranks())
    , polled_limit_(segment.local_ranks() <= max_polled + 1 ? max_polled : few_polled)
    , poll_after_(segment.local_ranks() <= max_polled + 1 ? 1 : std::max(4U, segment.local_ranks()))
    , rings_(segment.local_ranks())
    , cells_(segment, self) {
    for (uint32_t i = 0; i < segment.local_ranks(); ++i) {
        identity_ &= segment.world_rank(i) == static_cast<int>(i);
        in_[i].ring = &segment.ring(self, i);
    }
    block_->pid.store(getpid(), std::memory_order_seq_cst); // NodeSegment::notify_node_info() follows
    if (uses_membarrier_ && enough_cpus(segment)) block_->uses_membarrier.store(1, std::memory_order_seq_cst);
    // Without memory for its own queue, an mpsc receiver could not detect any message.
    if (mode_ == PollMode::mpsc && !open(self_)) mode_ = PollMode::hybrid;
}

int ShmTransport::search(int world_rank) const {
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

// Opens both directions: a peer that receives a message can always reply (attach()).
bool ShmTransport::open(Peer peer) {
    const wire::Geometry& g = segment_.geometry();
    if (mode_ == PollMode::mpsc) {
        const uint64_t bytes = (wire::mpsc_ring_slots(segment_.local_ranks()) + 2) * wire::cache_line;
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

// The ring to this peer exists. A receiver that polls rings without a bitmap must register it.
void ShmTransport::attach(Peer peer) {
    out_[peer].ring = &segment_.ring(peer, self_);
    if (mode_ != PollMode::hybrid) set_arrival_bit(segment_.block(peer), uint64_t{1} << (self_ % 64));
}

void ShmTransport::set_arrival_bit(wire::RankBlock& to, uint64_t bit) {
    to.arrival_bitmap[self_ / 64].fetch_or(bit, std::memory_order_seq_cst);
}

void ShmTransport::mark_blocked(Peer peer) {
    block_->counters.add(Counter::ring_full);
    if (mode_ == PollMode::expected && out_[peer].notified_at != out_[peer].produced) {
        // Reading all slots frees space: no second notification needed.
        out_[peer].notified_at = out_[peer].produced;
        notify_receiver(peer);
    }
    if (out_[peer].blocked) return;
    out_[peer].blocked = true;
    blocked_.push_back(peer);
}

ShmTransport::SlotSpan ShmTransport::claim_mpsc(Peer peer, uint32_t lines, SendStatus& why) {
    if (out_[peer].ring == nullptr && !open(peer)) {
        why = SendStatus::no_memory;
        return {};
    }
    auto& ring = reinterpret_cast<wire::MpscRing&>(*out_[peer].ring);
    const uint32_t capacity = wire::mpsc_ring_slots(segment_.local_ranks());
    uint32_t tail = ring.tail.load(std::memory_order_relaxed);
    do {
        // Pairs with the store in publish_consumed_mpsc(); seq_cst because it is also the final check after
        // arm().
        const uint32_t used = tail - ring.consumed.load(std::memory_order_seq_cst);
        if (used + lines > capacity) {
            mark_blocked(peer);
            why = SendStatus::would_block;
            return {};
        }
    } while (!ring.tail.compare_exchange_weak(tail, tail + lines, std::memory_order_relaxed));
    return {ring.slot, capacity, tail % capacity, tail + 1, self_};
}

// Sends a medium-sized message in consecutive slots; this saves acquiring and releasing a cell.
void ShmTransport::send_multislot(Peer peer, const SlotSpan& span, uint32_t lines,
                                  const wire::Envelope& envelope, const std::byte* bytes, size_t n) {
    wire::RingSlot& first = span.at(0);
    size_t at = wire::inline_max;
    for (uint32_t i = 1; i < lines; ++i, at += wire::slot_continuation_bytes) {
        auto& next = reinterpret_cast<wire::RingSlotTail&>(span.at(i));
        next.seq.store(span.seq_of(i, mode_), std::memory_order_relaxed);
        std::memcpy(next.bytes, bytes + at, std::min(wire::slot_continuation_bytes, n - at));
    }
    std::memcpy(first.payload, bytes, wire::inline_max);
    first.envelope = envelope;
    first.envelope.flags |= wire::flag_multislot;
    first.envelope.inline_bytes = static_cast<uint8_t>(n + wire::slot_continuation_bytes - at);
    first.envelope.extra_slots = static_cast<uint8_t>(lines - 1);
    publish(peer, span, lines);
}

namespace {

// Another rank read the cell last: prefetching its cache lines before many short segments are written saves
// 10 %.
void prefetch_cell(const std::byte* cell, size_t bytes) {
    constexpr size_t most = 8192;
    for (size_t i = 0; i < std::min(bytes, most); i += wire::cache_line) os::prefetch_for_write(cell + i);
}

} // namespace

SendStatus ShmTransport::send_bulk(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                   size_t bytes, const BulkSource& bulk) {
    SendStatus why = SendStatus::ok;
    if (bytes == 0 && bulk.bytes > wire::inline_max && bulk.bytes <= wire::multislot_max) {
        const auto lines =
            static_cast<uint32_t>(1 + (bulk.bytes + wire::slot_continuation_bytes - 1 - wire::inline_max) /
                                          wire::slot_continuation_bytes);
        const SlotSpan span = claim(peer, lines, why);
        if (span.slots == nullptr) return why;
        std::byte written[wire::multislot_max];
        if (bulk.write != nullptr) bulk.copy_to(written);
        send_multislot(peer, span, lines, envelope, bulk.write != nullptr ? written : bulk.at, bulk.bytes);
        return SendStatus::ok;
    }
    bool pool_empty = false;
    const int cell = cells_.acquire(pool_empty, bulk.buffers);
    if (cell < 0) {
        block_->counters.add(Counter::no_cell);
        // With fewer cells than allowed, wait for one; without any there is nothing to wait for.
        if (!pool_empty) request_cell();
        return pool_empty ? SendStatus::no_memory : SendStatus::would_block;
    }
    const SlotSpan span = claim(peer, 1, why);
    if (span.slots == nullptr) {
        cells_.return_unsent(cell);
        return why;
    }
    std::byte* const to = segment_.cell(self_, static_cast<uint32_t>(cell)) + wire::cache_line;
    if (bulk.write != nullptr && !cells_.is_prefetched(cell, bulk.bytes)) prefetch_cell(to, bulk.bytes);
    bulk.copy_to(to);
    wire::RingSlot& line = span.at(0);
    line.envelope = envelope;
    line.envelope.inline_bytes = static_cast<uint8_t>(bytes);
    line.envelope.flags |= wire::flag_cell;
    if (bytes != 0) std::memcpy(line.payload, payload, bytes);
    const wire::CellRef ref = cells_.send(cell, bulk.bytes, peer);
    std::memcpy(line.payload + wire::inline_max_with_cell, &ref, sizeof ref);
    block_->counters.add(Counter::cells);
    publish(peer, span, 1);
    return SendStatus::ok;
}

bool ShmTransport::is_valid(const wire::Envelope& envelope, const wire::CellRef& ref) const {
    const wire::Geometry& g = segment_.geometry();
    return envelope.inline_bytes <= wire::inline_max_with_cell && ref.cell < g.cells_per_rank &&
           ref.bytes <= g.cell_bytes;
}

// The caller has validated the reference.
void ShmTransport::release_cell(Peer owner, const wire::CellRef& ref) {
    auto* head = reinterpret_cast<wire::CellHead*>(segment_.cell(owner, ref.cell));
    wire::RankBlock& block = segment_.block(owner);
    // As in publish(), paired with the owner's arm(): either the owner sees the free cell, or we see that it
    // waits.
    if (uses_membarrier_ && block.uses_membarrier.load(std::memory_order_acquire) != 0)
        head->released.store(ref.generation, std::memory_order_release);
    else
        head->released.store(ref.generation, std::memory_order_seq_cst);
    if (block.waits_for_cell.load(std::memory_order_seq_cst) != 0) {
        block.waits_for_cell.store(0, std::memory_order_relaxed);
        wake(block);
    }
}

// A sender has arrived by the bitmap often enough: it replaces the directly polled sender with the fewest
// hits.
void ShmTransport::maybe_poll_directly(Peer from) {
    in_[from].bitmap_arrivals = 0;
    in_[from].polled = true;
    if (polled_count_ < polled_limit_) {
        polled_[polled_count_++] = {from, 0};
    } else {
        PolledSender* least =
            std::min_element(polled_, polled_ + polled_count_,
                             [](const PolledSender& a, const PolledSender& b) { return a.hits < b.hits; });
        for (uint32_t i = 0; i < polled_count_; ++i) polled_[i].hits /= 2;
        const Peer evicted = least->peer;
        in_[evicted].polled = false;
        *least = {from, 0};
        block_->polled_bitmap[evicted / 64].fetch_and(~(uint64_t{1} << (evicted % 64)),
                                                      std::memory_order_seq_cst);
        draining_.push_back(evicted);
        last_drain_poll_ = false;
        if (draining_.size() > polled_limit_) { // polling them costs more than it saves: end it by a barrier
            if (uses_membarrier_) os::global_membarrier();
            last_drain_poll_ = true;
        }
    }
    block_->polled_bitmap[from / 64].fetch_or(uint64_t{1} << (from % 64), std::memory_order_seq_cst);
}

// The cells may be in rings that their receivers do not poll because they expect nothing from this rank.
void ShmTransport::request_cell() {
    waiting_for_cell_ = true;
    if (mode_ == PollMode::expected)
        cells_.for_new_readers([this](uint32_t reader) { notify_receiver(reader); });
}

// Another thread of this process may sleep without having polled this ring, and the sender of the slots in it
// will not send another wakeup.
void ShmTransport::expect(int peer, int change) {
    const auto from = static_cast<Peer>(peer);
    if (peer < 0 ? rings_.count_any(change) : rings_.count(from, change) && slot_ready(from)) wake_self();
}

void ShmTransport::publish_consumed(Peer from, ConsumerRing& in) {
    wire::Ring& ring = *in.ring;
    in.published = in.consumed;
    // As in publish(), paired with the producer's arm(): either it sees the space, or we see that it waits.
    if (uses_membarrier_ && segment_.block(from).uses_membarrier.load(std::memory_order_acquire) != 0)
        ring.consumed.store(in.consumed, std::memory_order_release);
    else
        ring.consumed.store(in.consumed, std::memory_order_seq_cst);
    if (ring.producer_waits.load(std::memory_order_seq_cst) != 0) {
        ring.producer_waits.store(0, std::memory_order_relaxed);
        wake(segment_.block(from));
    }
}

void ShmTransport::publish_consumed_mpsc(wire::MpscRing& ring) {
    mpsc_published_ = mpsc_consumed_;
    ring.consumed.store(mpsc_consumed_, std::memory_order_seq_cst);
    if (ring.producers_wait.load(std::memory_order_seq_cst) == 0) return;
    ring.producers_wait.store(0, std::memory_order_seq_cst);
    for (uint32_t w = 0; w < arrival_words_; ++w)
        for (uint64_t bits = block_->arrival_bitmap[w].exchange(0, std::memory_order_seq_cst); bits != 0;
             bits &= bits - 1) {
            const uint32_t peer = w * 64 + static_cast<uint32_t>(std::countr_zero(bits));
            if (peer < in_.size()) wake(segment_.block(peer));
        }
}

void ShmTransport::wake(wire::RankBlock& block) {
    block.wake.fetch_add(1, std::memory_order_seq_cst);
    block_->counters.add(Counter::wakeups_sent);
    if (&block == block_) ++self_wakeups_;
    if (const uint64_t address = block.wake_socket.load(std::memory_order_relaxed); address != 0) {
        // A thread that is about to sleep and not counted yet finds the futex word changed.
        if (block.descriptor_sleepers.load(std::memory_order_seq_cst) != 0) wakeup_socket_.notify(address);
        if (block.futex_sleepers.load(std::memory_order_seq_cst) == 0) return;
    }
    if (const uint32_t woken = os::futex_wake_all(block.wake); woken != 0)
        segment_.asleep().fetch_sub(woken, std::memory_order_relaxed);
}

void ShmTransport::wake_self() {
    if (block_->sleepers.load(std::memory_order_seq_cst) != 0) wake(*block_);
}

uint32_t ShmTransport::arm() {
    const uint32_t ticket = block_->wake.load(std::memory_order_seq_cst);
    block_->sleepers.fetch_add(1, std::memory_order_seq_cst);
    for (const Peer peer : blocked_) {
        out_[peer].blocked = false; // set again if it is still full
        if (mode_ == PollMode::mpsc) {
            set_arrival_bit(segment_.block(peer), uint64_t{1} << (self_ % 64));
            reinterpret_cast<wire::MpscRing*>(out_[peer].ring)
                ->producers_wait.store(1, std::memory_order_seq_cst);
        } else {
            out_[peer].ring->producer_waits.store(1, std::memory_order_seq_cst);
        }
    }
    blocked_.clear();
    if (waiting_for_cell_) {
        waiting_for_cell_ = false;
        block_->waits_for_cell.store(1, std::memory_order_seq_cst);
    }
    // With enough CPUs ranks rarely sleep, so the barrier is cheaper here; when oversubscribed they sleep
    // often, and a barrier in each sender is cheaper.
    if (uses_membarrier_ &&
        (block_->uses_membarrier.load(std::memory_order_relaxed) != 0 || enough_cpus(segment_))) {
        block_->uses_membarrier.store(1, std::memory_order_seq_cst);
        os::global_membarrier();
    }
    last_drain_poll_ = true;
    return ticket;
}

bool ShmTransport::sleep(uint32_t ticket, int64_t timeout_ns) {
    std::atomic<uint32_t>& asleep = segment_.asleep();
    asleep.fetch_add(1, std::memory_order_relaxed);
    block_->futex_sleepers.fetch_add(1, std::memory_order_seq_cst);
    const os::FutexWait how = os::futex_wait(block_->wake, ticket, timeout_ns);
    block_->futex_sleepers.fetch_sub(1, std::memory_order_relaxed);
    if (how != os::FutexWait::woken) asleep.fetch_sub(1, std::memory_order_relaxed);
    return how != os::FutexWait::timed_out;
}

bool ShmTransport::enable_socket_wakeup() {
    const uint64_t address = wakeup_socket_.open();
    block_->wake_socket.store(address, std::memory_order_release);
    return address != 0;
}

bool ShmTransport::sleep_on_descriptors(uint32_t ticket, int other, int64_t timeout_ns) {
    std::atomic<uint32_t>& asleep = segment_.asleep();
    asleep.fetch_add(1, std::memory_order_relaxed);
    // Either the waking process sees this count and notifies the socket, or we see that the futex word has
    // changed.
    block_->descriptor_sleepers.fetch_add(1, std::memory_order_seq_cst);
    const bool woken =
        block_->wake.load(std::memory_order_seq_cst) != ticket || wakeup_socket_.wait(other, timeout_ns);
    block_->descriptor_sleepers.fetch_sub(1, std::memory_order_relaxed);
    asleep.fetch_sub(1, std::memory_order_relaxed);
    return woken;
}

void ShmTransport::release_descriptors() {
    // A thread about to sleep is already armed but perhaps not yet counted in futex_sleepers.
    if (block_->sleepers.load(std::memory_order_seq_cst) > 1) wake(*block_);
}

void ShmTransport::disarm() { block_->sleepers.fetch_sub(1, std::memory_order_seq_cst); }

} // namespace zipmpi::transport::shm
