// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The rings that a receiver without an arrival bitmap polls: those of all registered senders (poll mode
// all_rings), or those from which something is expected (poll mode expected). Counts the messages and replies
// expected from each peer and from any peer; the list of rings is updated in constant time.
#pragma once

#include "os/lazy_table.hpp"
#include "transport/transport.hpp"

#include <vector>

namespace zipmpi::transport::shm {

class ExpectedRings {
  public:
    explicit ExpectedRings(uint32_t peers)
        : peers_(peers) {}

    // The ring from this peer exists and may be polled.
    void register_sender(Peer peer) {
        PeerCount& p = peers_[peer];
        if (p.registered) return;
        p.registered = true;
        registered_.push_back(peer);
        if (p.expected > 0) add_expected(peer);
    }
    // Adds (1) or removes (-1) one expected item from a peer. Returns true if one more ring is polled now.
    bool count(Peer peer, int change) {
        PeerCount& p = peers_[peer];
        const bool before = p.expected > 0;
        p.expected += change;
        const bool after = p.expected > 0;
        if (before == after) return false;
        if (p.registered) after ? add_expected(peer) : remove_expected(peer);
        return p.registered && after;
    }
    // Adds (1) or removes (-1) one expected message from any peer.
    bool count_any(int change) {
        any_ += change;
        return any_ == 1 && change > 0;
    }
    [[nodiscard]] const std::vector<Peer>& registered() const { return registered_; }
    [[nodiscard]] const std::vector<Peer>& expected() const { return any_ > 0 ? registered_ : expected_; }

  private:
    struct PeerCount {
        int32_t expected = 0;
        uint32_t index = 0; // in expected_
        bool registered = false;
    };
    void add_expected(Peer peer) {
        peers_[peer].index = static_cast<uint32_t>(expected_.size());
        expected_.push_back(peer);
    }
    void remove_expected(Peer peer) {
        const Peer last = expected_.back();
        expected_[peers_[peer].index] = last;
        peers_[last].index = peers_[peer].index;
        expected_.pop_back();
    }

    os::LazyTable<PeerCount> peers_;
    std::vector<Peer> registered_;
    std::vector<Peer> expected_; // registered peers with expected > 0
    int32_t any_ = 0;
};

} // namespace zipmpi::transport::shm
