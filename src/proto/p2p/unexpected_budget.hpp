// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// UnexpectedBudget: limits the memory of messages without a receive, per peer and in total. A peer beyond its
// limit is asked to hold eager messages (MessageKind::hold_eager): its sends then complete when they are
// matched, and long ones stay at the sender. It may resume when half of its limit is free.
//
// Costs nothing for messages that find their receive. A peer of this node that only sends polls when its ring
// is full; so while a held peer continues, the receiver sleeps now and then instead of emptying the ring.
//
// Decision: docs/decisions/0064_unexpected_budgets.md.
#pragma once

#include "os/lazy_table.hpp"
#include "proto/p2p/control_sender.hpp"

namespace zipmpi::proto {

class UnexpectedBudget {
  public:
    struct Limits {
        uint64_t peer;
        uint64_t total;
    };
    // p2p.unexpected_peer_limit and p2p.unexpected_limit.
    static Limits limits_of_rank(uint32_t local_ranks);
    UnexpectedBudget(ControlSender& control, transport::Peer self, const Limits& limits)
        : control_(control)
        , self_(self)
        , limits_(limits) {}

    // A message was stored, and released.
    void add(transport::Peer peer, uint64_t bytes) {
        if (peer >= shares_.size()) [[unlikely]]
            shares_.grow(size_t{peer} + 1);
        PeerShare& share = shares_[peer];
        share.bytes += bytes;
        total_ += bytes;
        if (share.bytes > limits_.peer + share.tolerated || total_ > limits_.total + tolerated_) [[unlikely]]
            on_excess(peer);
    }
    void remove(transport::Peer peer, uint64_t bytes) {
        shares_[peer].bytes -= bytes;
        total_ -= bytes;
        if (held_peers_ != 0) [[unlikely]]
            on_released(peer);
    }
    // All peers with messages hold. Called when there is no memory, too.
    void hold_all();
    [[nodiscard]] uint64_t total() const { return total_; }
    // Eager bytes to other hosts after which a sender polls for requests to hold.
    [[nodiscard]] uint64_t bytes_per_poll() const;

  private:
    struct PeerShare {
        uint64_t bytes;
        uint64_t tolerated; // bytes beyond the limit up to which nothing more is done
        bool held;
    };
    [[gnu::cold]] void on_excess(transport::Peer peer);
    [[gnu::cold]] void on_released(transport::Peer peer);
    [[nodiscard]] uint64_t step() const;
    void hold(transport::Peer peer);
    void resume(transport::Peer peer);
    void request(transport::Peer peer, const wire::HoldEager& what);

    ControlSender& control_;
    transport::Peer self_;
    Limits limits_;
    os::LazyTable<PeerShare> shares_; // by peer
    uint64_t total_ = 0;
    uint64_t tolerated_ = 0; // as in PeerShare, of the total
    uint32_t held_peers_ = 0;
    bool all_held_ = false; // because of the total
};

} // namespace zipmpi::proto
