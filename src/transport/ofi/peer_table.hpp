// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The peers of this process: state, and what becomes of those that fail.
#pragma once

#include "os/clock.hpp"
#include "transport/failure_report.hpp"
#include "transport/message_order.hpp"
#include "transport/send_burst.hpp"
#include "transport/token_peers.hpp"

#include <deque>
#include <rdma/fabric.h>
#include <string>
#include <vector>

namespace zipmpi::transport::ofi {

struct SendRequest;

struct ConnectionState {
    std::string contact;     // its address, as it publishes it
    auth::Nonce nonce{};     // of our hello
    uint64_t last_hello = 0; // number of its last hello
};

struct PeerState : TokenPeer {
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    uint64_t lost_ns = 0; // when an operation failed, if the launcher reports whether the peer has; 0: none
    bool left = false;    // it has announced its end
    SendBurst burst;
    SendRequest* batch = nullptr;               // not sent yet
    std::deque<SendRequest*> queued;            // not accepted by libfabric yet
    MessageOrder<std::vector<std::byte>> order; // holds records
    ConnectionState connection;

    [[nodiscard]] bool is_lost() const { return lost_ns != 0; }
    // Whether messages can be sent to it now.
    [[nodiscard]] PostStatus readiness() const {
        if (failed || abandoned) return PostStatus::failed;
        return tokens.sending != 0 && !is_lost() ? PostStatus::done : PostStatus::would_block;
    }
};

class PeerTable : public TokenPeers<PeerState> {
  public:
    // Failures of ranks from detect_from on are reported; other ranks are left to the launcher.
    PeerTable(NetworkListener& listener, PollCounters& counters, int detect_from)
        : TokenPeers(listener, counters)
        , detect_from_(detect_from) {}

    [[nodiscard]] bool detects_failure_of(const PeerState& peer) const {
        return peer.world_rank >= detect_from_ || peer.abandoned;
    }
    // An operation with the peer has failed. Returns false if its operations stay in flight until the
    // launcher says whether the peer has failed.
    bool record_failure(PeerState& peer, const char* why) {
        if (!detects_failure_of(peer)) {
            if (may_have_ended(peer)) peer.failed = true;
            if (!peer.failed) {
                note_lost(peer);
                return false;
            }
        }
        mark_failed(peer, why);
        return true;
    }
    // This process may end from now on, and so may the others.
    void set_ending() { ending_ = true; }
    void set_left(PeerState& peer) { peer.left = any_left_ = true; }
    // Whether its end would be no failure.
    [[nodiscard]] bool may_have_ended(const PeerState& peer) const {
        return (peer.left || ending_) && !detects_failure_of(peer);
    }
    [[nodiscard]] bool any_may_have_ended() const { return any_left_ || ending_; }
    [[nodiscard]] bool any_lost() const { return !lost_.empty(); }
    // Removes and returns lost peers whose failure the launcher should have reported meanwhile.
    std::vector<Peer> take_unreported() {
        const uint64_t now = os::now_ns();
        std::vector<Peer> unreported;
        std::erase_if(lost_, [&](Peer index) {
            const PeerState& peer = (*this)[index];
            if (!peer.is_lost() || peer.failed) return true;
            if (now - peer.lost_ns < failure_report_ns) return false;
            unreported.push_back(index);
            return true;
        });
        return unreported;
    }

  private:
    void note_lost(PeerState& peer) {
        if (peer.is_lost()) return;
        peer.lost_ns = os::now_ns();
        lost_.push_back(peer.index);
    }

    int detect_from_;
    std::vector<Peer> lost_;
    bool any_left_ = false;
    bool ending_ = false;
};

} // namespace zipmpi::transport::ofi
