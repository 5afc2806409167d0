// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared-memory transport within a node: rings of slots, cells of a send buffer pool for bulk data, and a
// futex to sleep on. docs/design/shared_memory.md shows the layout and argues why no wakeup is lost. A Peer
// is a local index in the node segment.
#pragma once

#include "transport/shm/cell_sender.hpp"
#include "transport/shm/peer_map.hpp"
#include "transport/shm/receive_rings.hpp"
#include "transport/shm/send_rings.hpp"
#include "transport/shm/wakeup_port.hpp"
#include "transport/transport.hpp"

namespace zipmpi::transport::shm {

class ShmTransport {
  public:
    static constexpr std::string_view name = "shm";

    ShmTransport(const segment::NodeSegment& segment, uint32_t self);

    [[nodiscard]] const Caps& caps() const { return caps_; }
    [[nodiscard]] int peer_of(int world_rank) const { return peers_.find(world_rank); }
    [[nodiscard]] uint32_t self() const { return own_.index; }
    [[nodiscard]] wire::RankBlock& own_block() const { return own_.block; }
    [[nodiscard]] const segment::NodeSegment& segment() const { return own_.segment; }

    SendStatus send_inline(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                           size_t bytes) {
        return send_rings_.send_inline(peer, envelope, payload, bytes);
    }
    SendStatus send_bulk(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes,
                         const BulkSource& bulk);

    // Whether at least `most` cells of this rank are in use by readers; if so, retry after progress.
    bool cell_limit_reached(size_t most) { return cells_.limit_reached(most); }
    // Called when idle: makes the next send through a cell cheaper.
    void prefetch_cells() { cells_.prefetch(); }
    // The peer has failed: reclaims the cells sent to it.
    void reclaim_cells(Peer peer) { cells_.reclaim_from(peer); }

    template <class Sink>
    int poll(Sink&& sink) {
        return receive_rings_.poll(sink);
    }
    [[nodiscard]] ReceiveRings& receive_rings() { return receive_rings_; }
    [[nodiscard]] SendRings& send_rings() { return send_rings_; }

    uint32_t arm();
    bool sleep(uint32_t ticket, int64_t timeout_ns) { return wakeups_.sleep(ticket, timeout_ns); }
    void disarm() { wakeups_.end_sleep(); }
    // For a process that also waits for a file descriptor: from now on one thread at a time calls
    // sleep_on_descriptors() instead of sleep(); it returns when a peer sends a wakeup or the other
    // descriptor is readable.
    bool enable_socket_wakeup() { return wakeups_.enable_socket(); }
    bool sleep_on_descriptors(uint32_t ticket, int other, int64_t timeout_ns) {
        return wakeups_.sleep_on_descriptors(ticket, other, timeout_ns);
    }
    // Another thread of this process may sleep on the descriptors now.
    void release_descriptors() { wakeups_.release_descriptors(); }

    // Lower bound of the ranks of this node that are not asleep.
    [[nodiscard]] uint32_t awake() const { return wakeups_.awake(); }
    // Call after a store that the peer may wait for; the store must be seq_cst.
    void wake_if_asleep(Peer peer) { wakeups_.wake_if_asleep(own_.segment.block(peer)); }
    // Wakes a peer that announced its sleep by other means than arm().
    void wake_peer(Peer peer) { wakeups_.wake(own_.segment.block(peer)); }
    // Wakes sleeping threads of this process; one of them may wait for the effect of another thread.
    void wake_self() { wakeups_.wake_self(); }
    [[nodiscard]] uint32_t self_wakeups() const { return wakeups_.self_wakeups(); }
    // A send was blocked; arm() makes the reader send a wakeup.
    [[nodiscard]] bool has_blocked_sends() const { return cells_.is_waiting() || send_rings_.has_blocked(); }

    // Poll mode expected: a ring is polled only while something is expected from its sender or from any peer,
    // or after the sender's notify_receiver(). A waiting rank therefore counts what it expects: change is 1
    // or -1; peer -1: any peer.
    [[nodiscard]] bool counts_expected() const { return own_.mode == PollMode::expected; }
    void expect(int peer, int change) { receive_rings_.expect(peer, change); }
    // Makes the peer read what this rank sent even if it expects nothing, because this rank waits for that.
    void notify_receiver(Peer peer) { send_rings_.notify_receiver(peer); }
    // Reads all rings, whatever is expected. Within poll() this is left to the next poll().
    template <class Sink>
    void poll_all(Sink&& sink) {
        receive_rings_.poll_all(sink);
    }

  private:
    LocalRank own_;
    Caps caps_;
    PeerMap peers_;
    WakeupPort wakeups_;
    SendRings send_rings_;
    ReceiveRings receive_rings_;
    CellSender cells_;
};

} // namespace zipmpi::transport::shm
