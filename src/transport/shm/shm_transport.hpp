// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared-memory transport within a node: rings of slots, cells of a send buffer pool for bulk data, and a
// futex to sleep on. docs/design/shared_memory.md shows the layout and argues why no wakeup is lost. A Peer
// is a local index in the node segment. PollMode selects how a receiver detects messages.
#pragma once

#include "os/clock.hpp"
#include "os/wakeup_socket.hpp"
#include "segment/node_segment.hpp"
#include "transport/shm/cell_pool.hpp"
#include "transport/shm/expected_rings.hpp"
#include "transport/transport.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace zipmpi::transport::shm {

enum class PollMode : uint8_t {
    hybrid,    // a ring per pair; a few are polled directly, the others set a bit in the arrival bitmap
    all_rings, // a ring per pair; all are polled
    expected,  // a ring per pair; those from which something is expected are polled
    mpsc,      // one ring per receiver, written by all senders
};

class ShmTransport {
  public:
    static constexpr std::string_view name = "shm";

    ShmTransport(const segment::NodeSegment& segment, uint32_t self);

    [[nodiscard]] const Caps& caps() const { return caps_; }
    [[nodiscard]] int peer_of(int world_rank) const {
        if (identity_) [[likely]]
            return world_rank < static_cast<int>(out_.size()) ? world_rank : -1;
        return search(world_rank);
    }
    [[nodiscard]] uint32_t self() const { return self_; }
    [[nodiscard]] wire::RankBlock& own_block() const { return *block_; }
    [[nodiscard]] const segment::NodeSegment& segment() const { return segment_; }

    SendStatus send_inline(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes);
    SendStatus send_bulk(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes,
                         const BulkSource& bulk);

    // Whether at least `most` cells of this rank are in use by readers; if so, retry after progress.
    bool cell_limit_reached(size_t most) {
        const bool many = cells_.in_use_at_least(most);
        if (many) request_cell();
        return many;
    }

    // Called when idle: makes the next send through a cell cheaper.
    void prefetch_cells() { cells_.prefetch(); }
    // The peer has failed: reclaims the cells sent to it.
    void reclaim_cells(Peer peer) { cells_.reclaim_from(peer); }

    template <class Sink>
    int poll(Sink&& sink);

    uint32_t arm();
    bool sleep(uint32_t ticket, int64_t timeout_ns);
    void disarm();
    // For a process that also waits for a file descriptor: from now on one thread at a time calls
    // sleep_on_descriptors() instead of sleep(); it returns when a peer sends a wakeup or the other
    // descriptor is readable.
    bool enable_socket_wakeup();
    bool sleep_on_descriptors(uint32_t ticket, int other, int64_t timeout_ns);
    void release_descriptors(); // another thread of this process may sleep on them now

    // Lower bound of the ranks of this node that are not asleep.
    [[nodiscard]] uint32_t awake() const {
        const uint32_t asleep = segment_.asleep().load(std::memory_order_relaxed);
        return asleep < segment_.local_ranks() ? segment_.local_ranks() - asleep : 0;
    }
    // While a slot of this peer is delivered: whether the next one is present.
    [[nodiscard]] bool next_slot_ready(Peer from) const {
        if (mode_ == PollMode::mpsc) return false;
        const ConsumerRing& in = in_[from];
        const SlotSpan next{in.ring->slot, wire::ring_slots, in.slot, 0, 0};
        return next.at(1).seq.load(std::memory_order_relaxed) == in.consumed + 2;
    }
    // Call after a store that the peer may wait for; the store must be seq_cst.
    void wake_if_asleep(Peer peer) {
        wire::RankBlock& block = segment_.block(peer);
        if (block.sleepers.load(std::memory_order_seq_cst) != 0) wake(block);
    }
    // Wakes a peer that announced its sleep by other means than arm().
    void wake_peer(Peer peer) { wake(segment_.block(peer)); }
    // Wakes sleeping threads of this process; one of them may wait for the effect of another thread.
    void wake_self();
    [[nodiscard]] uint32_t self_wakeups() const { return self_wakeups_; }
    // A send was blocked; arm() makes the reader send a wakeup.
    [[nodiscard]] bool has_blocked_sends() const { return waiting_for_cell_ || !blocked_.empty(); }

    // Poll mode expected: a ring is polled only while something is expected from its sender or from any peer,
    // or after the sender's notify_receiver(). A waiting rank therefore counts what it expects: change is 1
    // or -1; peer -1: any peer.
    [[nodiscard]] bool counts_expected() const { return mode_ == PollMode::expected; }
    void expect(int peer, int change);
    // Makes the peer read what this rank sent even if it expects nothing, because this rank waits for that.
    void notify_receiver(Peer peer) {
        if (mode_ != PollMode::expected) return;
        set_arrival_bit(segment_.block(peer), uint64_t{1} << (self_ % 64));
        wake_if_asleep(peer);
    }
    // Reads all rings, whatever is expected. Within poll() this is left to the next poll().
    template <class Sink>
    void poll_all(Sink&& sink);
    // The next poll() reads what this peer has sent, whatever is expected.
    void force_poll(Peer peer) {
        if (out_[peer].ring == nullptr) return; // not connected, or its first message sets the bit
        block_->arrival_bitmap[peer / 64].fetch_or(uint64_t{1} << (peer % 64), std::memory_order_relaxed);
    }

  private:
    struct ProducerRing { // producer side of the ring to one peer
        wire::Ring* ring = nullptr;
        uint32_t produced = 0;      // slots written so far
        uint32_t consumed_seen = 0; // the consumer's count when last read
        uint32_t slot = 0;
        // Poll mode expected: value of produced at the last notify_receiver() for a full ring.
        uint32_t notified_at = 0;
        bool blocked = false; // in blocked_
    };
    struct ConsumerRing { // consumer side of the ring from one peer
        wire::Ring* ring = nullptr;
        uint32_t consumed = 0;
        uint32_t published = 0; // count last published to the producer
        uint32_t slot = 0;
        uint32_t bitmap_arrivals =
            0;               // arrivals by bitmap since the ring was last considered for direct polling
        bool polled = false; // in polled_
    };
    // Space for the slots of one message.
    struct SlotSpan {
        wire::RingSlot* slots = nullptr; // of the ring; null: no space
        uint32_t capacity = 0;
        uint32_t slot = 0;
        uint32_t seq = 0;    // of the first slot
        uint32_t sender = 0; // poll mode mpsc: in the upper bits of sequence numbers

        [[nodiscard]] wire::RingSlot& at(uint32_t i) const {
            const uint32_t s = slot + i;
            return slots[s < capacity ? s : s - capacity];
        }
        [[nodiscard]] uint32_t seq_of(uint32_t i, PollMode mode) const {
            if (mode != PollMode::mpsc) return seq + i;
            return sender << wire::mpsc_seq_bits | ((seq + i) & ((1U << wire::mpsc_seq_bits) - 1));
        }
    };
    // Consumed slots are published to the producer in batches; it needs the count only when its ring seems
    // full.
    static constexpr uint32_t publish_interval = 16;
    static_assert(2 * publish_interval < wire::ring_slots);
    // Senders whose rings are polled directly: this saves one cache miss compared to the bitmap. All senders
    // if there are at most max_polled, else few_polled, so that a poll stays O(1).
    static constexpr uint32_t max_polled = 16;
    static constexpr uint32_t few_polled = 4;
    struct PolledSender {
        Peer peer = 0;
        uint32_t hits = 0; // recent messages
    };

    // A sender prefetches the slot this far ahead of the next one, so that a stream of messages does not wait
    // for each slot. Not closer: the receiver polls the next slot and would fetch it back.
    static constexpr uint32_t write_ahead = 4;
    static constexpr uint32_t read_ahead = 3;

    [[nodiscard]] int search(int world_rank) const;
    SlotSpan claim(Peer peer, uint32_t lines, SendStatus& why);
    SlotSpan claim_mpsc(Peer peer, uint32_t lines, SendStatus& why);
    void publish(Peer peer, const SlotSpan& span, uint32_t lines);
    void set_arrival_bit(wire::RankBlock& to, uint64_t bit);
    void send_multislot(Peer peer, const SlotSpan& span, uint32_t lines, const wire::Envelope& envelope,
                        const std::byte* bytes, size_t n);
    [[gnu::cold]] bool open(Peer peer);
    [[gnu::cold]] void attach(Peer peer);
    [[gnu::cold]] void mark_blocked(Peer peer);
    void wake(wire::RankBlock& block);
    [[nodiscard]] bool is_valid(const wire::Envelope& envelope, const wire::CellRef& ref) const;
    void release_cell(Peer owner, const wire::CellRef& ref);
    void publish_consumed(Peer from, ConsumerRing& in);
    void publish_consumed_mpsc(wire::MpscRing& ring);
    [[gnu::cold]] void maybe_poll_directly(Peer from);
    [[gnu::cold]] void request_cell();
    [[nodiscard]] bool slot_ready(Peer from) const {
        const ConsumerRing& in = in_[from];
        // seq_cst: also the final check after arm(), and after direct polling of the ring has ended.
        return in.ring->slot[in.slot].seq.load(std::memory_order_seq_cst) == in.consumed + 1;
    }
    template <class Sink>
    int poll_hybrid(Sink& sink);
    template <class Sink>
    int poll_bitmap(Sink& sink);
    template <class Sink>
    int poll_draining(Sink& sink);
    template <class Sink>
    int poll_expected(Sink& sink);
    template <class Sink>
    int poll_rings(const std::vector<Peer>& rings, Sink& sink);
    template <class Sink>
    int poll_mpsc(Sink& sink);
    template <class Sink>
    int drain(Peer from, Sink& sink);
    template <class Sink>
    uint32_t deliver(Peer from, const SlotSpan& span, Sink& sink);

    const segment::NodeSegment& segment_;
    wire::RankBlock* block_;
    uint32_t self_;
    uint32_t arrival_words_;
    PollMode mode_;
    bool uses_membarrier_; // relies on barriers that receivers execute for all processes
    bool identity_ = true; // local index == world rank for all: the job runs on this node only
    Caps caps_;
    std::vector<ProducerRing> out_;
    std::vector<ConsumerRing> in_;
    PolledSender polled_[max_polled];
    uint32_t polled_count_ = 0;
    uint32_t polled_limit_;
    uint32_t poll_after_; // arrivals by bitmap before a sender is polled directly
    // Formerly polled directly: a slot may arrive without an arrival bit until the sender has seen the
    // change, which its next arrival bit proves or a barrier enforces.
    std::vector<Peer> draining_;
    // all senders have seen the change (barrier executed): the next poll of draining_ is the last
    bool last_drain_poll_ = false;
    ExpectedRings rings_;       // poll modes all_rings and expected
    bool polling_ = false;      // poll mode expected: within poll()
    std::vector<Peer> blocked_; // peers whose ring was full when last tried
    CellPool cells_;
    uint32_t self_wakeups_ = 0; // wakeups sent to this process itself
    bool waiting_for_cell_ = false;
    os::WakeupSocket wakeup_socket_;
    uint32_t mpsc_consumed_ = 0;
    uint32_t mpsc_published_ = 0;
};

} // namespace zipmpi::transport::shm

#include "transport/shm/ring_inline.hpp"
