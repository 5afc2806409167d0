// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The peers of this process. Each component keeps what it knows of a peer in its own part of PeerState.
#pragma once

#include "transport/send_burst.hpp"
#include "transport/token_peers.hpp"
#include "transport/ucx/ep_info.hpp"
#include "transport/ucx/incoming_bulk.hpp"

#include <ucp/api/ucp.h>

namespace zipmpi::transport::ucx {

struct SendRequest;

struct OpenBatches {
    SendRequest* messages = nullptr;
    SendRequest* frames = nullptr;
};

// How the endpoint was created.
struct ConnectionState {
    size_t address_hash = 0; // of its UCX address
    std::string address;     // kept only for peers that may be restarted
    uint64_t created_ns = 0; // creation time of the endpoint
    bool ep_failed = false;  // reported by UCX
    auth::Nonce nonce{};     // of our hello
    uint64_t last_hello = 0; // number of its last hello
};

// The parts used by every message come first.
struct PeerState : TokenPeer {
    ucp_ep_h endpoint = nullptr;
    SendBurst burst;
    OpenBatches batches;
    EpInfo ep_info; // valid once there is a token
    MessageOrder<ReorderedMessage> messages;
    ConnectionState connection;

    [[nodiscard]] bool can_receive() const { return tokens.sending != 0 && !failed && endpoint != nullptr; }
};

using PeerTable = TokenPeers<PeerState>;

} // namespace zipmpi::transport::ucx
