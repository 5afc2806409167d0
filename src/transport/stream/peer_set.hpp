// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The peers of a network over streams: their connections here, who they are in the classes derived from it.
#pragma once

#include "transport/stream/process_handshake.hpp"
#include "transport/transport.hpp"

#include <deque>
#include <vector>

namespace zipmpi::transport::stream {

struct Connection;

// The connection to a peer, and how it ended.
struct PeerLink {
    Connection* connection = nullptr; // for messages to it; null: none
    bool failed = false;
    bool left = false;    // it may exit: connections to it may end in any way
    uint64_t lost_ns = 0; // when it ended, if others report whether the peer has failed; 0: it did not

    // It has announced its end, and has ended.
    [[nodiscard]] bool has_ended() const { return left && connection == nullptr; }
    // Messages may be missing: no other connection may continue this one.
    [[nodiscard]] bool is_lost() const { return lost_ns != 0; }
};

// Peers are numbered in the order in which they are added.
class PeerSet {
  public:
    static constexpr int none = -1;

    explicit PeerSet(Peer first_peer)
        : first_peer_(first_peer) {}
    PeerSet(const PeerSet&) = delete;
    PeerSet& operator=(const PeerSet&) = delete;

    [[nodiscard]] int count() const { return static_cast<int>(links_.size()); }
    [[nodiscard]] PeerLink& link(int peer) { return links_[static_cast<size_t>(peer)]; }
    [[nodiscard]] const PeerLink& link(int peer) const { return links_[static_cast<size_t>(peer)]; }

    // Index of a peer in the interface of the network.
    [[nodiscard]] Peer peer_of(int peer) const { return first_peer_ + static_cast<Peer>(peer); }
    [[nodiscard]] bool is_member(Peer peer) const { return peer >= first_peer_; }
    [[nodiscard]] int number_of(Peer peer) const { return static_cast<int>(peer - first_peer_); }

    // Failures wait here until no caller uses a connection of the peer.
    void add_failure(int peer) { failures_.push_back(peer); }
    [[nodiscard]] bool has_failures() const { return !failures_.empty(); }
    [[nodiscard]] int take_failure() { // or none
        if (failures_.empty()) return none;
        const int peer = failures_.back();
        failures_.pop_back();
        return peer;
    }

    [[nodiscard]] virtual const ContactInfo& contact_of(int peer) const = 0;
    // What this process is called in a hello to the peer, and the key of the two.
    [[nodiscard]] virtual ProcessName own_name(int peer) const = 0;
    [[nodiscard]] virtual std::string_view key_of(int peer) const = 0;
    // The key that a hello was made with, if it is authentic; empty: not known yet.
    [[nodiscard]] virtual std::string_view find_key(const Hello& hello) const = 0;
    // The sender of an authentic hello; none: not a peer.
    [[nodiscard]] virtual int find(const ProcessName& name) = 0;
    // Whether a connection of this peer is accepted. Connections that it no longer uses are removed first.
    [[nodiscard]] virtual bool admit(int peer, const Hello& hello) = 0;
    [[nodiscard]] virtual bool may_send(int peer, const wire::Envelope& envelope,
                                        const std::byte* payload) const = 0;
    // Whether a connection that ends is a failure of the peer; else others detect failures.
    [[nodiscard]] virtual bool detects_failure_of(int peer) const = 0;
    [[nodiscard]] virtual bool reports_failure_of(int peer) const = 0; // to the listener of the network
    virtual void connected(int peer) = 0;                              // it can be sent to

  protected:
    ~PeerSet() = default;
    int add_link() {
        links_.emplace_back();
        return count() - 1;
    }

  private:
    Peer first_peer_;
    std::deque<PeerLink> links_;
    std::vector<int> failures_;
};

} // namespace zipmpi::transport::stream
