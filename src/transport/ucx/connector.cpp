// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/connector.hpp"

#include "os/clock.hpp"
#include "transport/auth/nonce.hpp"
#include "transport/ucx/active_message.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

constexpr uint64_t connecting_ns = 1'000'000'000;

} // namespace

bool Connector::listen() {
    return worker_.handle(wire::net_hello, on_handshake, this) &&
           worker_.handle(wire::net_hello_reply, on_handshake, this);
}

PeerState& Connector::peer_for(int world_rank) {
    if (PeerState* const known = peers_.find(world_rank); known != nullptr) return *known;
    PeerState& peer = peers_.add(world_rank);
    reset_state(peer);
    return peer;
}

// Returns the peer to its initial state.
void Connector::reset_state(PeerState& peer) {
    auth::renew(peer.connection.nonce);
    PeerTable::renew_tokens(peer);
    peer.failed = false;
    listener_.peer_reset(peer);
}

void Connector::disconnect(PeerState& peer) {
    if (peer.endpoint == nullptr) return;
    worker_.require_arm();
    const bool young = os::now_ns() - peer.connection.created_ns < connecting_ns;
    ucp_ep_h endpoint = std::exchange(peer.endpoint, nullptr);
    if (!peer.connection.ep_failed && (young || peer.tokens.sending == 0))
        retired_.close_later(endpoint);
    else
        RetiredEndpoints::close_now(endpoint);
}

void Connector::reset_peer(Peer index) {
    PeerState& peer = peers_[index];
    disconnect(peer);
    reset_state(peer);
}

// Before the worker is destroyed.
void Connector::close_all() {
    for (const PeerState& peer : peers_) {
        if (peer.endpoint == nullptr) continue;
        ucp_request_param_t force{};
        force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        force.flags = UCP_EP_CLOSE_FLAG_FORCE;
        void* request = ucp_ep_close_nbx(peer.endpoint, &force);
        if (!UCS_PTR_IS_PTR(request)) continue;
        for (int i = 0; i < 1000 && ucp_request_check_status(request) == UCS_INPROGRESS; ++i)
            worker_.progress();
        ucp_request_free(request);
    }
}

bool Connector::connect(PeerState& peer, std::string_view address) {
    worker_.require_arm();
    ConnectionState& connection = peer.connection;
    connection.ep_failed = false;
    connection.created_ns = os::now_ns();
    const bool detect = detects_failures_of(peer);
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    params.err_mode = detect ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
    params.err_handler.cb = on_ep_error;
    params.err_handler.arg = this;
    connection.address_hash = std::hash<std::string_view>()(address);
    if (detect && connection.address != address) connection.address = address;
    return ucp_ep_create(worker_.get(), &params, &peer.endpoint) == UCS_OK;
}

int Connector::connect_to(int world_rank) {
    const PeerState* const known = peers_.find(world_rank);
    if (known != nullptr && known->endpoint != nullptr) return static_cast<int>(known->index);
    if (known != nullptr && known->failed) return -1;
    // A peer that only stopped responding is contacted at its last address: a lookup may block as long as its
    // network is cut off if the launcher is reached through that network.
    const bool unresponsive = known != nullptr && !known->connection.ep_failed;
    std::string address = unresponsive ? known->connection.address : std::string();
    if (address.empty()) address = config_.resolver->find(world_rank);
    if (address.empty()) return -1;
    PeerState& peer = peer_for(world_rank);
    if (!connect(peer, address)) return -1;
    const auth::Nonce nonce = peer.connection.nonce;
    send_handshake(peer, wire::net_hello, nonce);
    return static_cast<int>(peer.index);
}

void Connector::send_handshake(PeerState& peer, uint16_t kind,
                               std::span<const uint8_t, wire::nonce_bytes> nonce) {
    SendRequest& s = requests_.acquire();
    const std::string_view address =
        kind == wire::net_hello ? std::string_view(worker_.address()) : std::string_view();
    s.handshake = auth::sign({.kind = kind,
                              .from = config_.own_rank,
                              .to = peer.world_rank,
                              .token = peer.tokens.issued,
                              .nonce = nonce},
                             address, config_.keys);
    const ucs_status_t status = requests_.send(s, peer.endpoint, kind, std::as_bytes(std::span(s.handshake)));
    if (status != UCS_OK) peers_.mark_failed(peer, ucs_status_string(status));
}

void Connector::on_hello(std::span<const std::byte> bytes) {
    auth::VerifiedMessage hello;
    if (!auth::verify(bytes, wire::net_hello, config_.own_rank, config_.keys, hello)) {
        ++counters_.rejected_messages;
        return;
    }
    PeerState& peer = peer_for(hello.message.from);
    const uint64_t number = auth::hello_number(hello.message.nonce);
    if (peer.abandoned || number <= peer.connection.last_hello) return; // overtaken by a later hello
    const bool moved = std::hash<std::string_view>()(hello.address) != peer.connection.address_hash;
    const bool peer_has_reset = peer.tokens.sending != 0 && peer.tokens.sending != hello.message.token;
    // The peer has reset the connection, so this side must too: UCX silently drops long messages to an
    // endpoint that its owner has closed.
    if (peer.endpoint != nullptr && (moved || peer_has_reset || peer.failed) && detects_failures_of(peer)) {
        peers_.mark_failed(peer, "the peer has reset the connection");
        disconnect(peer);
        reset_state(peer);
    }
    peer.connection.last_hello = number;
    if (peer.endpoint == nullptr && !connect(peer, hello.address)) return;
    const bool is_new = peer.tokens.sending != hello.message.token;
    set_token(peer, hello.message.token);
    send_handshake(peer, wire::net_hello_reply, hello.message.nonce);
    if (is_new) listener_.peer_connected(peer);
}

void Connector::process_hellos() {
    for (const std::vector<std::byte>& hello : std::exchange(pending_hellos_, {})) on_hello(hello);
}

void Connector::on_hello_reply(std::span<const std::byte> bytes) {
    auth::VerifiedMessage reply;
    const bool authentic = auth::verify(bytes, wire::net_hello_reply, config_.own_rank, config_.keys, reply);
    PeerState* const peer = authentic ? peers_.find(reply.message.from) : nullptr;
    if (peer == nullptr ||
        std::memcmp(peer->connection.nonce.data(), reply.message.nonce, wire::nonce_bytes) != 0) {
        ++counters_.rejected_messages;
        return;
    }
    if (peer->tokens.sending != 0) return;
    set_token(*peer, reply.message.token);
    listener_.peer_connected(*peer);
}

// The peer can be sent to from now on; its endpoint is queried once.
void Connector::set_token(PeerState& peer, uint64_t token) {
    if (peer.tokens.sending == token) return;
    peer.tokens.sending = token;
    if (!worker_.may_use_rdma()) return;
    char* text = nullptr;
    size_t length = 0;
    FILE* description = open_memstream(&text, &length);
    if (description == nullptr) return;
    ucp_ep_print_info(peer.endpoint, description);
    std::fclose(description);
    peer.ep_info = parse_ep_info({text, length});
    std::free(text);
}

ucs_status_t Connector::on_handshake(void* self, const void*, size_t, void* data, size_t length,
                                     const ucp_am_recv_param_t* param) {
    auto& connector = *static_cast<Connector*>(self);
    if (!count_eager(connector.counters_, param)) return UCS_OK;
    const std::span<const std::byte> bytes = bytes_at(data, length);
    wire::HandshakeMessage g{}; // the MAC covers its kind
    if (length >= sizeof g) std::memcpy(&g, data, sizeof g);
    if (length > sizeof g + wire::net_address_max)
        ++connector.counters_.rejected_messages;
    else if (g.kind == wire::net_hello)
        connector.pending_hellos_.emplace_back(bytes.begin(), bytes.end());
    else
        connector.on_hello_reply(bytes);
    return UCS_OK;
}

void Connector::on_ep_error(void* self, ucp_ep_h endpoint, ucs_status_t status) {
    auto& connector = *static_cast<Connector*>(self);
    connector.retired_.mark_failed(endpoint);
    for (PeerState& peer : connector.peers_) {
        if (peer.endpoint != endpoint) continue;
        peer.connection.ep_failed = true;
        connector.peers_.mark_failed(peer, ucs_status_string(status));
    }
}

// Closing with force ends all requests on the endpoint. UCX allows it only with error handling enabled.
void Connector::fail_peer(int world_rank) {
    PeerState& peer = peer_for(world_rank);
    peer.failed = peer.abandoned = true;
    if (detects_failures_of(peer)) disconnect(peer);
}

bool Connector::has_pending_handshakes() const {
    return std::ranges::any_of(peers_, [](const PeerState& k) {
        return k.endpoint != nullptr && k.tokens.sending == 0 && !k.failed;
    });
}

} // namespace zipmpi::transport::ucx
