// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/receive_rings.hpp"

#include "os/membarrier.hpp"

namespace zipmpi::transport::shm {

ReceiveRings::ReceiveRings(const LocalRank& own, SendRings& replies, WakeupPort& wakeups)
    : own_(own)
    , arrival_words_(arrival_words(own.segment))
    , in_(own.segment.local_ranks())
    , polled_(own.segment.local_ranks())
    , reader_(own, wakeups)
    , replies_(replies)
    , wakeups_(wakeups)
    , rings_(own.segment.local_ranks())
    , mpsc_(own, wakeups) {}

// The first message of a peer: the peer has reserved both rings, see SendRings::open().
void ReceiveRings::connect(Peer from) {
    in_[from].ring = &own_.segment.ring(own_.index, from);
    in_[from].connected = true;
    if (!replies_.is_connected(from)) replies_.attach(from);
}

// A sender has arrived by the bitmap often enough: its ring is polled from now on.
void ReceiveRings::poll_directly(Peer from) {
    in_[from].bitmap_arrivals = 0;
    in_[from].polled = true;
    if (const std::optional<Peer> evicted = polled_.add(from)) drain_evicted(*evicted);
    own_.block.polled_bitmap[from / 64].fetch_or(uint64_t{1} << (from % 64), std::memory_order_seq_cst);
}

void ReceiveRings::drain_evicted(Peer evicted) {
    in_[evicted].polled = false;
    own_.block.polled_bitmap[evicted / 64].fetch_and(~(uint64_t{1} << (evicted % 64)),
                                                     std::memory_order_seq_cst);
    draining_.push_back(evicted);
    last_drain_poll_ = false;
    if (draining_.size() > polled_.limit()) { // polling them costs more than it saves: end it by a barrier
        if (own_.uses_membarrier) os::global_membarrier();
        last_drain_poll_ = true;
    }
}

// Another thread of this process may sleep without having polled this ring, and the sender of the slots in it
// will not send another wakeup.
void ReceiveRings::expect(int peer, int change) {
    const auto from = static_cast<Peer>(peer);
    if (peer < 0 ? rings_.count_any(change) : rings_.count(from, change) && slot_ready(from))
        wakeups_.wake_self();
}

void ReceiveRings::publish_consumed(Peer from, ConsumerRing& in) {
    wire::Ring& ring = *in.ring;
    in.published = in.consumed;
    // As in SendRings::publish(), paired with the producer's arm(): either it sees the space, or we see that
    // it waits.
    if (own_.peer_executes_barrier(own_.segment.block(from)))
        ring.consumed.store(in.consumed, std::memory_order_release);
    else
        ring.consumed.store(in.consumed, std::memory_order_seq_cst);
    if (ring.producer_waits.load(std::memory_order_seq_cst) != 0) {
        ring.producer_waits.store(0, std::memory_order_relaxed);
        wakeups_.wake(own_.segment.block(from));
    }
}

void ReceiveRings::publish_taken(Peer from, ConsumerRing& in) {
    for (uint32_t i = 0; i < polled_.count(); ++i)
        if (polled_.peer(i) == from) polled_.add_hits(i, publish_interval);
    own_.block.counters.add_owner(Counter::ring_polls, publish_interval);
    publish_consumed(from, in);
}

} // namespace zipmpi::transport::shm
