// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The rank that a transport belongs to, and its poll mode: how it detects messages of its node.
#pragma once

#include "segment/node_segment.hpp"
#include "transport/transport.hpp"

namespace zipmpi::transport::shm {

enum class PollMode : uint8_t {
    hybrid,    // a ring per pair; a few are polled directly, the others set a bit in the arrival bitmap
    all_rings, // a ring per pair; all are polled
    expected,  // a ring per pair; those from which something is expected are polled
    mpsc,      // one ring per receiver, written by all senders
};

// Each part of the transport has a copy, so that its message path reads it without indirection.
struct LocalRank {
    const segment::NodeSegment& segment;
    wire::RankBlock& block;
    uint32_t index; // in the node segment
    PollMode mode;
    bool uses_membarrier; // relies on barriers that receivers execute for all processes

    // Takes the poll mode from the parameter shm.poll_mode and reserves the memory that it needs.
    static LocalRank make(const segment::NodeSegment& segment, uint32_t index);
    // Whether a store paired with the final check of this peer before its sleep needs no barrier.
    [[nodiscard]] bool peer_executes_barrier(const wire::RankBlock& peer) const {
        return uses_membarrier && peer.uses_membarrier.load(std::memory_order_acquire) != 0;
    }
    // Tells the peer that its ring from this rank needs a poll.
    void set_arrival_bit(wire::RankBlock& to) const {
        to.arrival_bitmap[index / 64].fetch_or(uint64_t{1} << (index % 64), std::memory_order_seq_cst);
    }
};

// A barrier on behalf of all processes is cheaper than one in each sender while ranks rarely sleep.
[[nodiscard]] inline bool enough_cpus(const segment::NodeSegment& segment) {
    return segment.local_ranks() <= segment.header().usable_cpus.load(std::memory_order_relaxed);
}

// Words of the arrival bitmap in use.
[[nodiscard]] inline uint32_t arrival_words(const segment::NodeSegment& segment) {
    return (segment.local_ranks() + 63) / 64;
}

// Reserves the ring of a receiver in poll mode mpsc. Returns false if memory is short.
[[nodiscard]] bool reserve_mpsc_ring(const segment::NodeSegment& segment, Peer receiver);

} // namespace zipmpi::transport::shm
