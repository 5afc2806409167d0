// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which rings a receiver without a bitmap of arrivals looks at: those of all senders that have announced
// themselves once (design `pairs`), or those from which something is expected (design `expected`). Counts the
// messages and answers that are expected from each peer, and from anybody; the list of rings follows from the
// counts in constant time.
#pragma once

#include "transport/concept.hpp"

#include <vector>

namespace zipmpi::transport::shm {

class ExpectedRings {
  public:
    explicit ExpectedRings(uint32_t peers)
        : peers_(peers) {}

    // The ring from this peer exists: from now on it may be read.
    void get_to_know(Peer peer) {
        Counted& p = peers_[peer];
        if (p.known) return;
        p.known = true;
        known_.push_back(peer);
        if (p.expected > 0) enlist(peer);
    }
    // One thing more (1) or less (-1) is expected from a peer. True: a ring more is looked at from now on.
    bool count(Peer peer, int change) {
        Counted& p = peers_[peer];
        const bool before = p.expected > 0;
        p.expected += change;
        const bool after = p.expected > 0;
        if (before == after) return false;
        if (p.known) after ? enlist(peer) : strike(peer);
        return p.known && after;
    }
    // The same for a message from anybody.
    bool count_any(int change) {
        any_ += change;
        return any_ == 1 && change > 0;
    }
    [[nodiscard]] const std::vector<Peer>& known() const { return known_; }
    [[nodiscard]] const std::vector<Peer>& expected() const { return any_ > 0 ? known_ : expected_; }

  private:
    struct Counted {
        int32_t expected = 0;
        uint32_t place = 0; // in expected_
        bool known = false;
    };
    void enlist(Peer peer) {
        peers_[peer].place = static_cast<uint32_t>(expected_.size());
        expected_.push_back(peer);
    }
    void strike(Peer peer) {
        const Peer last = expected_.back();
        expected_[peers_[peer].place] = last;
        peers_[last].place = peers_[peer].place;
        expected_.pop_back();
    }

    std::vector<Counted> peers_;
    std::vector<Peer> known_;
    std::vector<Peer> expected_; // known, and something is expected from it
    int32_t any_ = 0;
};

} // namespace zipmpi::transport::shm
