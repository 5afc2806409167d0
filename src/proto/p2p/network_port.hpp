// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// NetworkPort: the network of a process, how often it is polled, and who sleeps on its descriptor.
#pragma once

#include "proto/p2p/peer_directory.hpp"
#include "transport/network.hpp"

#include <memory>
#include <utility>

namespace zipmpi::proto {

enum class PeerFailure : uint8_t {
    unreachable,
    connection_lost // messages are missing, although the rank still runs
};

class NetworkPort {
  public:
    explicit NetworkPort(const PeerDirectory& peers)
        : peers_(peers) {}

    void use(std::unique_ptr<transport::Network> network) { network_ = std::move(network); }
    // Null if all ranks are on this node.
    [[nodiscard]] transport::Network* get() const { return network_.get(); }
    // Hands the network to a wrapper, which is then set by use(); peers keep their indices.
    [[nodiscard]] std::unique_ptr<transport::Network> take() { return std::move(network_); }

    // Finds the peer index of a rank on another host. Returns false if it cannot be reached.
    [[gnu::cold]] bool connect(int world_rank, transport::Peer& peer) {
        const int reached = network_ != nullptr ? network_->connect_to(world_rank) : -1;
        if (reached < 0) return false;
        peer = peers_.from_network(static_cast<transport::Peer>(reached));
        return true;
    }
    [[nodiscard]] int rank_of(transport::Peer peer) const {
        return network_->rank_of(peers_.to_network(peer));
    }
    [[nodiscard]] bool idle() const { return network_ == nullptr || network_->idle(); }

    // Polls the network if it is due. Returns the number of events.
    int poll(bool local_message_arrived) {
        return network_ != nullptr ? poll_if_due(local_message_arrived) : 0;
    }
    // The next poll() polls even if a message from this node arrived recently.
    void force_poll() {
        if (network_ != nullptr) polls_since_local_ = UINT32_MAX / 2;
    }
    [[nodiscard]] uint64_t polls() const { return polls_; }
    // The next poll() does not poll.
    void skip_poll() { polls_since_local_ = 0; }
    // Network::relays_bulk() at the last poll.
    [[nodiscard]] bool relays_bulk() const { return relays_bulk_; }
    // Only one thread at a time may sleep on the network's descriptor. False: another one does.
    bool acquire_descriptors() { return !std::exchange(descriptors_acquired_, true); }
    void release_descriptors() { descriptors_acquired_ = false; }

    // Called when the network can no longer reach a rank.
    using OnFailure = void (*)(int world_rank, PeerFailure how);
    void set_on_failure(OnFailure call) { on_failure_ = call; }
    void report_failure(transport::Peer network_peer, PeerFailure how) {
        if (on_failure_ != nullptr) on_failure_(network_->rank_of(network_peer), how);
    }

  private:
    int poll_if_due(bool local_message_arrived);

    const PeerDirectory& peers_;
    std::unique_ptr<transport::Network> network_;
    uint64_t polls_ = 0;             // of the network
    uint32_t polls_since_local_ = 0; // since the last message from this node; large after network activity
    bool descriptors_acquired_ = false;
    bool relays_bulk_ = false;
    OnFailure on_failure_ = nullptr;
};

} // namespace zipmpi::proto
