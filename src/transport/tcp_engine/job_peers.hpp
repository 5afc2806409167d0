// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The other ranks of the job and the gateways, as peers of streams: their addresses, keys and failures.
#pragma once

#include "transport/auth/key.hpp"
#include "transport/network.hpp"
#include "transport/stream/peer_set.hpp"

#include <unordered_map>

namespace zipmpi::transport::tcp_engine {

// What JobPeers reports.
class ConnectionListener {
  public:
    virtual void peer_connected(Peer peer, int id) = 0; // it can be sent to
    virtual void peer_reset(Peer peer) = 0;             // it no longer uses the connections that it has

  protected:
    ~ConnectionListener() = default;
};

// The text that a process publishes, and its contents.
std::string address_text(const stream::ContactInfo& contact);
bool parse_address(std::string_view text, stream::ContactInfo& contact);

class JobPeers final : public stream::PeerSet {
  public:
    JobPeers(const NetworkConfig& settings, ConnectionListener& listener);

    // The number of a rank or gateway; adds it if it is new.
    int number_for(int id);
    [[nodiscard]] int number_if_known(int id) const; // or none
    [[nodiscard]] int id_of(int peer) const { return at(peer).id; }
    // Looks up its address if it is not known. Returns false if there is none.
    bool resolve(int peer);
    // It has failed permanently: connections of it are rejected.
    void abandon(int peer) { at(peer).abandoned = true; }
    [[nodiscard]] bool is_abandoned(int peer) const { return at(peer).abandoned; }
    // Forgets its connection, so that it can be connected to again. An address that has failed is looked up
    // again; one that only stopped responding is kept, because a lookup may block as long as its network is
    // cut off.
    void reset(int peer);

    [[nodiscard]] const stream::ContactInfo& contact_of(int peer) const override { return at(peer).contact; }
    [[nodiscard]] stream::ProcessName own_name(int peer) const override;
    [[nodiscard]] std::string_view key_of(int peer) const override {
        return key_between(own_id_, at(peer).id);
    }
    [[nodiscard]] std::string_view find_key(const stream::Hello& hello) const override {
        return key_between(hello.from.rank, hello.to.rank);
    }
    [[nodiscard]] int find(const stream::ProcessName& name) override;
    [[nodiscard]] bool admit(int peer, const stream::Hello& hello) override;
    [[nodiscard]] bool may_send(int, const wire::Envelope&, const std::byte*) const override { return true; }
    [[nodiscard]] bool detects_failure_of(int peer) const override { return at(peer).id >= detect_from_; }
    [[nodiscard]] bool reports_failure_of(int peer) const override { return !at(peer).abandoned; }
    void connected(int peer) override { listener_.peer_connected(peer_of(peer), at(peer).id); }

  private:
    struct JobPeer {
        int id = -1; // a world rank, or a gateway id above all ranks
        bool has_address = false;
        bool abandoned = false;
        int32_t resets = 0;  // by this process
        int32_t session = 0; // of the peer: another one than before means that it has reset the connection
        stream::ContactInfo contact;
    };
    [[nodiscard]] JobPeer& at(int peer) { return peers_[static_cast<size_t>(peer)]; }
    [[nodiscard]] const JobPeer& at(int peer) const { return peers_[static_cast<size_t>(peer)]; }
    [[nodiscard]] std::string_view key_between(int a, int b) const;

    int own_id_;
    int detect_from_; // failures of ids from here on are detected here
    int32_t session_; // of this process
    auth::HandshakeKeys keys_;
    AddressResolver& resolver_;
    ConnectionListener& listener_;
    std::deque<JobPeer> peers_;
    std::unordered_map<int, int> by_id_;
};

} // namespace zipmpi::transport::tcp_engine
