// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The peers of a network engine whose messages carry tokens, by index, rank and token. An engine derives the
// state of its peers from TokenPeer.
#pragma once

#include "transport/auth/nonce.hpp"
#include "transport/network.hpp"
#include "transport/poll_counters.hpp"

#include <deque>
#include <unordered_map>
#include <utility>

namespace zipmpi::transport {

// Tokens authenticate messages after the handshake; each side issues one to the other.
struct PeerTokens {
    uint64_t sending = 0; // on messages to the peer, issued by it; 0: not received yet
    uint64_t issued = 0;  // on messages from it
};

struct TokenPeer {
    int world_rank = -1;
    Peer index = 0;
    PeerTokens tokens;
    bool failed = false;
    bool abandoned = false; // permanently
};

template <class PeerState>
class TokenPeers {
  public:
    TokenPeers(NetworkListener& listener, PollCounters& counters)
        : listener_(listener)
        , counters_(counters) {}

    PeerState& operator[](Peer peer) { return peers_[peer]; }
    const PeerState& operator[](Peer peer) const { return peers_[peer]; }
    auto begin() { return peers_.begin(); }
    auto end() { return peers_.end(); }
    auto begin() const { return peers_.begin(); }
    auto end() const { return peers_.end(); }

    PeerState* find(int world_rank) {
        const auto it = by_rank_.find(world_rank);
        return it != by_rank_.end() ? &peers_[it->second] : nullptr;
    }
    PeerState& add(int world_rank) {
        const auto index = static_cast<Peer>(peers_.size());
        by_rank_.emplace(world_rank, index);
        PeerState& peer = peers_.emplace_back();
        peer.world_rank = world_rank;
        peer.index = index;
        return peer;
    }
    // The peer must present this token from now on, and this process has none of the peer's.
    static void renew_tokens(PeerState& peer) {
        peer.tokens = {0, auth::random_token() << token_index_bits | peer.index};
    }
    // The peer that was issued a token. Null, and counted as rejected: none.
    PeerState* authenticate(uint64_t token) {
        const auto index = static_cast<Peer>(token & ((uint64_t{1} << token_index_bits) - 1));
        if (index < peers_.size() && peers_[index].tokens.issued == token) [[likely]]
            return &peers_[index];
        ++counters_.rejected_messages;
        return nullptr;
    }
    // Reports the first failure of a peer.
    void mark_failed(PeerState& peer, const char* why) {
        ++counters_.events;
        if (std::exchange(peer.failed, true)) return;
        listener_.peer_failed(peer.index, why);
    }

  private:
    static constexpr unsigned token_index_bits = 24; // bits of a token that hold the index; others are random

    NetworkListener& listener_;
    PollCounters& counters_;
    std::deque<PeerState> peers_; // deque: a listener may add a peer
    std::unordered_map<int, Peer> by_rank_;
};

} // namespace zipmpi::transport
