// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared memory within a node: a ring of lines per ordered pair, cells of a send buffer pool for bulk parts,
// a bitmap of arrivals, and a futex to sleep on. docs/design/shared_memory.md has the picture and the
// argument why no wake-up is lost. Peer = local index in the node segment.
#pragma once

#include "boot/node_segment.hpp"
#include "transport/concept.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace zipmpi::transport::shm {

class Transport {
  public:
    static constexpr std::string_view name = "shm";

    Transport(const boot::NodeSegment& segment, uint32_t self);

    [[nodiscard]] const Caps& caps() const { return caps_; }
    [[nodiscard]] int reach(int world_rank) const;
    [[nodiscard]] uint32_t self() const { return self_; }
    [[nodiscard]] wire::RankBlock& own_block() const { return *block_; }
    [[nodiscard]] const boot::NodeSegment& segment() const { return segment_; }

    Sent send_short(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes);
    Sent send_bulk(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes,
                   const std::byte* bulk, size_t bulk_bytes);

    template <class Sink>
    int poll(Sink&& sink);

    uint32_t arm();
    bool sleep(uint32_t ticket, int64_t timeout_ns);
    void disarm();

    // Wakes a peer that has said, by other means than arm(), that it sleeps.
    void wake_peer(Peer peer) { wake(segment_.block(peer)); }
    // Wakes threads of this very process that sleep in it (one of them may wait for what another thread did).
    void wake_own();

  private:
    struct Outgoing { // producer side of the ring to one peer
        wire::Ring* ring = nullptr;
        uint32_t produced = 0;      // lines put in so far
        uint32_t consumed_seen = 0; // the consumer's count when last looked at
        uint32_t slot = 0;
        bool blocked = false; // in blocked_
    };
    struct Incoming { // consumer side of the ring from one peer
        uint32_t taken = 0;
        uint32_t given_back = 0; // how many of them the producer knows of
        uint32_t slot = 0;
        uint32_t by_bitmap = 0; // arrivals learned from the bitmap since it was last considered for watching
    };
    // Consumed lines are told to the producer in batches: it needs to know only when its ring looks full.
    static constexpr uint32_t give_back_lines = 16;
    static_assert(2 * give_back_lines < wire::ring_lines);
    // Senders whose rings are looked at directly: a line that is watched costs one cache miss less than one
    // that is announced in the bitmap. Few, so that looking stays O(1).
    static constexpr uint32_t watch_slots = 4;
    struct Watch {
        Peer peer = 0;
        uint32_t hits = 0; // lately
    };

    wire::RingLine* claim(Peer peer, Sent& why);
    void publish(Peer peer, wire::RingLine& line, uint32_t lines);
    [[nodiscard]] bool room_for(Peer peer, uint32_t lines);
    void send_lines(Peer peer, const wire::Envelope& envelope, const std::byte* bytes, size_t n);
    size_t gather_lines(const wire::Ring& ring, uint32_t slot, const wire::RingLine& first,
                        std::byte* to) const;
    [[gnu::cold]] bool open(Peer peer);
    [[gnu::cold]] void mark_blocked(Peer peer);
    int take_cell(bool stream, Sent& why);
    void wake(wire::RankBlock& block);
    bool checked(Peer from, const wire::RingLine& line, const std::byte*& bulk, size_t& bulk_bytes) const;
    void release_cell(Peer owner, const std::byte* bulk);
    void give_back(Peer from, Incoming& in);
    [[gnu::cold]] void consider(Peer from);
    [[nodiscard]] bool line_waits(Peer from) const {
        const Incoming& in = in_[from];
        // seq_cst: also the last look after arm(), and after a ring is no longer watched.
        return segment_.ring(self_, from).line[in.slot].mark.load(std::memory_order_seq_cst) == in.taken + 1;
    }
    template <class Sink>
    int drain(Peer from, Sink& sink);

    const boot::NodeSegment& segment_;
    wire::RankBlock* block_;
    uint32_t self_;
    uint32_t arrival_words_;
    Caps caps_;
    bool identity_ = true; // local index == world rank for all: the job lives on this node
    std::vector<Outgoing> out_;
    std::vector<Incoming> in_;
    Watch watch_[watch_slots];
    uint32_t watching_ = 0;
    uint32_t watch_after_;        // arrivals by bitmap before a sender is watched
    std::vector<Peer> unwatched_; // were watched until now: their rings need one more look
    std::vector<Peer> blocked_;   // peers whose ring was full when last tried
    uint32_t cells_made_ = 0;
    uint32_t next_cell_ = 0; // of a stream
    bool cell_wanted_ = false;
};

template <class Sink>
int Transport::poll(Sink&& sink) {
    int delivered = 0;
    for (uint32_t i = 0; i < watching_; ++i)
        if (line_waits(watch_[i].peer)) {
            const int lines = drain(watch_[i].peer, sink);
            watch_[i].hits += static_cast<uint32_t>(lines);
            delivered += lines;
        }
    for (uint32_t w = 0; w < arrival_words_; ++w) {
        // seq_cst: this is also the last look after arm() has counted the sleeper in (a plain load on x86).
        if (block_->arrivals[w].load(std::memory_order_seq_cst) == 0) continue;
        // Pairs with the sender's fetch_or in publish(): lines stored before it are visible after this.
        uint64_t bits = block_->arrivals[w].exchange(0, std::memory_order_acq_rel);
        while (bits != 0) {
            const auto from = static_cast<Peer>(w * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
            bits &= bits - 1;
            if (from >= in_.size()) continue;
            delivered += drain(from, sink);
            if (++in_[from].by_bitmap >= watch_after_) consider(from);
        }
    }
    while (!unwatched_.empty()) {
        const Peer peer = unwatched_.back();
        unwatched_.pop_back();
        delivered += drain(peer, sink);
    }
    return delivered;
}

template <class Sink>
int Transport::drain(Peer from, Sink& sink) {
    Incoming& in = in_[from];
    wire::Ring& ring = segment_.ring(self_, from);
    if (out_[from].ring == nullptr) out_[from].ring = &segment_.ring(from, self_); // see open()
    int delivered = 0;
    // At most one lap: a fast sender must not keep us here for ever.
    for (; delivered < static_cast<int>(wire::ring_lines); ++delivered) {
        const wire::RingLine& slot = ring.line[in.slot];
        // Pairs with the release store of mark in publish().
        if (slot.mark.load(std::memory_order_acquire) != in.taken + 1) break;
        // A private copy, so that what was checked is what is used even if the sender misbehaves.
        alignas(wire::line_size) std::byte copy[wire::line_size];
        std::memcpy(copy, &slot, wire::line_size);
        const auto& line = *reinterpret_cast<const wire::RingLine*>(copy);
        ++in.taken;
        in.slot = in.slot + 1 == wire::ring_lines ? 0 : in.slot + 1;
        const std::byte* bulk = nullptr;
        size_t bulk_bytes = 0;
        if ((line.envelope.flags & wire::flag_lines) != 0) {
            std::byte message[wire::lines_max];
            bulk_bytes = gather_lines(ring, in.slot, line, message);
            const uint32_t more = std::min<uint32_t>(line.envelope.more_lines, wire::max_more_lines);
            in.taken += more;
            in.slot = (in.slot + more) % wire::ring_lines;
            if (bulk_bytes != 0) sink(Arrival{from, line.envelope, line.payload, message, bulk_bytes});
            continue;
        }
        if (!checked(from, line, bulk, bulk_bytes)) continue;
        sink(Arrival{from, line.envelope, line.payload, bulk, bulk_bytes});
        if (bulk != nullptr) release_cell(from, bulk);
    }
    if (in.taken - in.given_back >= give_back_lines) give_back(from, in);
    if (delivered == static_cast<int>(wire::ring_lines)) // there may be more: come back
        block_->arrivals[from / 64].fetch_or(uint64_t{1} << (from % 64), std::memory_order_relaxed);
    return delivered;
}

} // namespace zipmpi::transport::shm
