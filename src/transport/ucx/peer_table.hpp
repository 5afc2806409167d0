// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The peers of this process, by index and by rank. Each component keeps what it knows of a peer in its own
// part of PeerState.
#pragma once

#include "transport/poll_counters.hpp"
#include "transport/send_burst.hpp"
#include "transport/ucx/ep_info.hpp"
#include "transport/ucx/message_order.hpp"

#include <array>
#include <deque>
#include <ucp/api/ucp.h>
#include <unordered_map>

namespace zipmpi::transport::ucx {

struct SendRequest;

struct PeerTokens {
    uint64_t sending = 0; // on messages to it; 0: not received yet
    uint64_t issued = 0;  // on messages from it
};

struct OpenBatches {
    SendRequest* messages = nullptr;
    SendRequest* frames = nullptr;
};

// How the endpoint was created.
struct ConnectionState {
    size_t address_hash = 0;                        // of its UCX address
    std::string address;                            // kept only for peers that may be restarted
    uint64_t created_ns = 0;                        // creation time of the endpoint
    bool ep_failed = false;                         // reported by UCX
    std::array<uint8_t, wire::nonce_bytes> nonce{}; // of our hello
    uint64_t last_hello = 0;                        // number of its last hello
};

// The parts used by every message come first.
struct PeerState {
    int world_rank = -1;
    Peer index = 0;
    ucp_ep_h endpoint = nullptr;
    PeerTokens tokens;
    bool failed = false;
    bool abandoned = false; // permanently
    SendBurst burst;
    OpenBatches batches;
    EpInfo ep_info; // valid once there is a token
    MessageOrder messages;
    ConnectionState connection;

    [[nodiscard]] bool can_receive() const { return tokens.sending != 0 && !failed && endpoint != nullptr; }
};

class PeerTable {
  public:
    // Bits of a token that hold the peer index; the others are random.
    static constexpr unsigned token_index_bits = 24;

    PeerTable(NetworkListener& listener, PollCounters& counters)
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
    PeerState& add(int world_rank);
    // The peer that was issued a token. Null, and counted as rejected: none.
    PeerState* authenticate(uint64_t token) {
        const auto index = static_cast<Peer>(token & ((uint64_t{1} << token_index_bits) - 1));
        if (index < peers_.size() && peers_[index].tokens.issued == token) [[likely]]
            return &peers_[index];
        ++counters_.rejected_messages;
        return nullptr;
    }
    // Reports the first failure of a peer.
    void mark_failed(PeerState& peer, const char* why);

  private:
    NetworkListener& listener_;
    PollCounters& counters_;
    std::deque<PeerState> peers_; // deque: a listener may add a peer
    std::unordered_map<int, Peer> by_rank_;
};

} // namespace zipmpi::transport::ucx
