// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared memory within a node: rings of lines, cells of a send buffer pool for bulk parts, and a futex to
// sleep on. docs/design/shared_memory.md has the picture and the argument why no wake-up is lost. Peer =
// local index in the node segment. How a receiver learns of lines is one of four designs (Design).
#pragma once

#include "boot/node_segment.hpp"
#include "os/bell.hpp"
#include "os/clock.hpp"
#include "transport/concept.hpp"
#include "transport/shm/cells.hpp"
#include "transport/shm/expected.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace zipmpi::transport::shm {

enum class Design : uint8_t {
    watched,  // a ring per pair; a few are looked at directly, the others announce themselves in a bitmap
    pairs,    // a ring per pair; all are looked at
    expected, // a ring per pair; those are looked at from which something is expected
    shared,   // one ring per receiver that all senders put lines into
};

class Transport {
  public:
    static constexpr std::string_view name = "shm";

    Transport(const boot::NodeSegment& segment, uint32_t self);

    [[nodiscard]] const Caps& caps() const { return caps_; }
    [[nodiscard]] int reach(int world_rank) const {
        if (identity_) [[likely]]
            return world_rank < static_cast<int>(out_.size()) ? world_rank : -1;
        return search(world_rank);
    }
    [[nodiscard]] uint32_t self() const { return self_; }
    [[nodiscard]] wire::RankBlock& own_block() const { return *block_; }
    [[nodiscard]] const boot::NodeSegment& segment() const { return segment_; }

    Sent send_short(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes);
    Sent send_bulk(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes,
                   const Bulk& bulk);

    // So many cells of this rank are out with readers that no more should be: try again after progress.
    bool cells_out(size_t most) {
        const bool many = cells_.out_at_least(most);
        if (many) wait_for_cell();
        return many;
    }

    // A moment without anything else to do: makes the next send through a cell cheaper.
    void warm_cells() { cells_.warm(); }
    // The peer is gone: cells on their way to it are free again.
    void forget_peer(Peer peer) { cells_.take_back_from(peer); }

    template <class Sink>
    int poll(Sink&& sink);

    uint32_t arm();
    bool sleep(uint32_t ticket, int64_t timeout_ns);
    void disarm();
    // For a process that waits for a descriptor as well: from now on, one of its threads at a time sleeps by
    // the second call instead of sleep(), until a peer wakes it or the other descriptor is readable.
    bool hear_a_bell();
    bool sleep_on_descriptors(uint32_t ticket, int other, int64_t timeout_ns);
    void hand_over_descriptors(); // another thread of this process may sleep on them now

    // Ranks of this node that are not asleep now, at least.
    [[nodiscard]] uint32_t awake() const {
        const uint32_t asleep = segment_.asleep().load(std::memory_order_relaxed);
        return asleep < segment_.local_ranks() ? segment_.local_ranks() - asleep : 0;
    }
    // While a line of this peer is delivered: whether the next one is there already.
    [[nodiscard]] bool another_waits(Peer from) const {
        if (design_ == Design::shared) return false;
        const Incoming& in = in_[from];
        const Spot next{in.ring->line, wire::ring_lines, in.slot, 0, 0};
        return next.at(1).mark.load(std::memory_order_relaxed) == in.taken + 2;
    }
    // After a store that the peer may wait for, which must be seq_cst.
    void wake_if_asleep(Peer peer) {
        wire::RankBlock& block = segment_.block(peer);
        if (block.sleepers.load(std::memory_order_seq_cst) != 0) wake(block);
    }
    // Wakes a peer that has said, by other means than arm(), that it sleeps.
    void wake_peer(Peer peer) { wake(segment_.block(peer)); }
    // Wakes threads of this very process that sleep in it (one of them may wait for what another thread did).
    void wake_own();
    [[nodiscard]] uint32_t own_wakes() const { return own_wakes_; } // so far
    // Something could not be sent; arm() tells the reader to wake us.
    [[nodiscard]] bool waits_for_room() const { return cell_wanted_ || !blocked_.empty(); }

    // Design `expected`: a ring is read only while something is expected from its sender or from anybody, or
    // when the sender calls. So whoever waits for something from a peer counts that here: one thing more (1)
    // or less (-1) from this peer, or from anybody (-1).
    [[nodiscard]] bool counts_expected() const { return design_ == Design::expected; }
    void expect(int peer, int change);
    // Has the peer read what we sent although it may expect nothing: we wait for that.
    void call(Peer peer) {
        if (design_ != Design::expected) return;
        announce(segment_.block(peer), uint64_t{1} << (self_ % 64));
        wake_if_asleep(peer);
    }
    // Reads what has come from anybody, whatever is expected. Not within poll(): then the next one does.
    template <class Sink>
    void read_all(Sink&& sink);
    // The next poll() reads what this peer has sent, whatever is expected.
    void look_at(Peer peer) {
        if (out_[peer].ring == nullptr) return; // we have not met, or its first message is announced
        block_->arrivals[peer / 64].fetch_or(uint64_t{1} << (peer % 64), std::memory_order_relaxed);
    }

  private:
    struct Outgoing { // producer side of the ring to one peer
        wire::Ring* ring = nullptr;
        uint32_t produced = 0;      // lines put in so far
        uint32_t consumed_seen = 0; // the consumer's count when last looked at
        uint32_t slot = 0;
        uint32_t called_at = 0; // design `expected`: lines put in when we last called because it was full
        bool blocked = false;   // in blocked_
    };
    struct Incoming { // consumer side of the ring from one peer
        wire::Ring* ring = nullptr;
        uint32_t taken = 0;
        uint32_t given_back = 0; // how many of them the producer knows of
        uint32_t slot = 0;
        uint32_t by_bitmap = 0; // arrivals learned from the bitmap since it was last considered for watching
        bool watched = false;   // in watch_
    };
    // Room for the lines of one message.
    struct Spot {
        wire::RingLine* lines = nullptr; // of the ring; null: no room
        uint32_t capacity = 0;
        uint32_t slot = 0;
        uint32_t number = 0; // of the first line
        uint32_t sender = 0; // design `shared`: in the upper bits of marks

        [[nodiscard]] wire::RingLine& at(uint32_t i) const {
            const uint32_t s = slot + i;
            return lines[s < capacity ? s : s - capacity];
        }
        [[nodiscard]] uint32_t mark(uint32_t i, Design design) const {
            if (design != Design::shared) return number + i;
            return sender << wire::shared_mark_bits | ((number + i) & ((1U << wire::shared_mark_bits) - 1));
        }
    };
    // Consumed lines are told to the producer in batches: it needs to know only when its ring looks full.
    static constexpr uint32_t give_back_lines = 16;
    static_assert(2 * give_back_lines < wire::ring_lines);
    // Senders whose rings are looked at directly: a line that is watched costs one cache miss less than one
    // that is announced in the bitmap. All where there are not many, else few, so that looking stays O(1).
    static constexpr uint32_t watch_slots = 16;
    static constexpr uint32_t few_watched = 4;
    struct Watch {
        Peer peer = 0;
        uint32_t hits = 0; // lately
    };

    // A sender asks for the line this far ahead of the next one, so that a stream of messages does not wait
    // for each. Not nearer: the receiver looks at the next line and would fetch it back.
    static constexpr uint32_t write_ahead = 4;
    static constexpr uint32_t read_ahead = 3;

    [[nodiscard]] int search(int world_rank) const;
    Spot claim(Peer peer, uint32_t lines, Sent& why);
    Spot claim_shared(Peer peer, uint32_t lines, Sent& why);
    void publish(Peer peer, const Spot& spot, uint32_t lines);
    void announce(wire::RankBlock& to, uint64_t bit);
    void send_lines(Peer peer, const Spot& spot, uint32_t lines, const wire::Envelope& envelope,
                    const std::byte* bytes, size_t n);
    [[gnu::cold]] bool open(Peer peer);
    [[gnu::cold]] void attach(Peer peer);
    [[gnu::cold]] void mark_blocked(Peer peer);
    void wake(wire::RankBlock& block);
    [[nodiscard]] bool makes_sense(const wire::Envelope& envelope, const wire::CellRef& ref) const;
    void release_cell(Peer owner, const wire::CellRef& ref);
    void give_back(Peer from, Incoming& in);
    void give_back_shared(wire::SharedRing& ring);
    [[gnu::cold]] void consider(Peer from);
    [[gnu::cold]] void wait_for_cell();
    [[nodiscard]] bool line_waits(Peer from) const {
        const Incoming& in = in_[from];
        // seq_cst: also the last look after arm(), and after a ring is no longer watched.
        return in.ring->line[in.slot].mark.load(std::memory_order_seq_cst) == in.taken + 1;
    }
    template <class Sink>
    int poll_watched(Sink& sink);
    template <class Sink>
    int poll_bitmap(Sink& sink);
    template <class Sink>
    int poll_leaving(Sink& sink);
    template <class Sink>
    int poll_expected(Sink& sink);
    template <class Sink>
    int poll_rings(const std::vector<Peer>& rings, Sink& sink);
    template <class Sink>
    int poll_shared(Sink& sink);
    template <class Sink>
    int drain(Peer from, Sink& sink);
    template <class Sink>
    uint32_t deliver(Peer from, const Spot& spot, Sink& sink);

    const boot::NodeSegment& segment_;
    wire::RankBlock* block_;
    uint32_t self_;
    uint32_t arrival_words_;
    Design design_;
    bool takes_part_;      // in the barriers that receivers execute for all
    bool identity_ = true; // local index == world rank for all: the job lives on this node
    Caps caps_;
    std::vector<Outgoing> out_;
    std::vector<Incoming> in_;
    Watch watch_[watch_slots];
    uint32_t watching_ = 0;
    uint32_t most_watched_;
    uint32_t watch_after_; // arrivals by bitmap before a sender is watched
    // Were watched: a line may come without an announcement until the sender has seen that they no longer
    // are, which its next announcement shows, or a barrier enforces.
    std::vector<Peer> leaving_;
    bool leaving_settled_ = false;
    ExpectedRings rings_;       // designs `pairs` and `expected`
    bool reading_ = false;      // design `expected`: within poll()
    std::vector<Peer> blocked_; // peers whose ring was full when last tried
    Cells cells_;
    uint32_t own_wakes_ = 0; // wake-ups that this process sent to itself
    bool cell_wanted_ = false;
    os::Bell bell_;
    uint32_t shared_taken_ = 0;
    uint32_t shared_given_back_ = 0;
};

} // namespace zipmpi::transport::shm

#include "transport/shm/transport_inline.hpp"
