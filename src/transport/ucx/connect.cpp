// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Peers and their handshake. The first sender sends a hello; the other side answers with a hello reply. Each
// issues the other a token, so that after one round trip both can send. Crossing hellos are both answered.
#include "transport/ucx/ucx_network.hpp"

#include "os/clock.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <openssl/rand.h>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

// A nonce begins with a number that increases with every hello, also across restarts of a process on its
// host.
uint64_t hello_number(const uint8_t* nonce) {
    uint64_t number = 0;
    std::memcpy(&number, nonce, sizeof number);
    return number;
}

constexpr uint64_t connecting_ns = 1'000'000'000;
constexpr uint64_t retired_close_ns = 10'000'000'000;
constexpr size_t max_retired = 64;

} // namespace

UcxNetwork::PeerState& UcxNetwork::peer_for(int world_rank) {
    const auto it = by_rank_.find(world_rank);
    if (it != by_rank_.end()) return peers_[it->second];
    const auto index = static_cast<Peer>(peers_.size());
    by_rank_.emplace(world_rank, index);
    PeerState& peer = peers_.emplace_back();
    peer.world_rank = world_rank;
    reset_state(peer);
    return peer;
}

// Returns the peer to its initial state.
void UcxNetwork::reset_state(PeerState& peer) {
    uint64_t bits = 0;
    RAND_bytes(reinterpret_cast<unsigned char*>(&bits), sizeof bits);
    const uint64_t number = std::max(hello_number(peer.nonce.data()) + 1, os::now_ns());
    std::memcpy(peer.nonce.data(), &number, sizeof number);
    RAND_bytes(peer.nonce.data() + sizeof number, static_cast<int>(peer.nonce.size() - sizeof number));
    peer.issued_token = bits << token_index_bits | by_rank_.at(peer.world_rank);
    peer.token = 0;
    peer.sent = peer.delivered = 0;
    peer.failed = peer.no_stream = false;
    close_stream(peer);
    for (const ReorderedMessage& early : peer.reordered) delete early.bytes;
    peer.reordered.clear();
    if (peer.frame_batch != nullptr) release_request(*std::exchange(peer.frame_batch, nullptr));
}

void UcxNetwork::close_now(ucp_ep_h endpoint) {
    ucp_request_param_t force{};
    force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK;
    force.flags = UCP_EP_CLOSE_FLAG_FORCE;
    force.cb.send = [](void* request, ucs_status_t, void*) { ucp_request_free(request); };
    static_cast<void>(ucp_ep_close_nbx(endpoint, &force));
}

// UCX 1.13 aborts if an endpoint is closed while it connects; such endpoints are closed later.
void UcxNetwork::disconnect(PeerState& peer) {
    if (peer.endpoint == nullptr) return;
    needs_arm_ = true; // without endpoints, a device raises no events unless it is armed
    const bool young = os::now_ns() - peer.created_ns < connecting_ns;
    ucp_ep_h endpoint = std::exchange(peer.endpoint, nullptr);
    if (!peer.ep_failed && (young || peer.token == 0))
        retired_endpoints_.push_back({endpoint, os::now_ns() + retired_close_ns});
    else
        close_now(endpoint);
}

void UcxNetwork::close_retired() {
    const uint64_t now = os::now_ns();
    // The oldest come first.
    size_t too_many = retired_endpoints_.size() - std::min(retired_endpoints_.size(), max_retired);
    std::erase_if(retired_endpoints_, [&](const RetiredEndpoint& a) {
        const bool over = a.close_at_ns < now || too_many > 0;
        if (!over) return false;
        too_many -= too_many > 0 ? 1 : 0;
        close_now(a.endpoint);
        return true;
    });
}

void UcxNetwork::reset_peer(Peer index) {
    PeerState& peer = peers_[index];
    disconnect(peer);
    reset_state(peer);
}

void UcxNetwork::notify_connected(PeerState& peer) {
    ++events_;
    if (frame_config_.offers_streams) offer_stream(peer);
    if (callbacks_.peer_connected != nullptr)
        callbacks_.peer_connected(callbacks_.subject, by_rank_.at(peer.world_rank), peer.world_rank);
}

bool UcxNetwork::connect(PeerState& peer, std::string_view address) {
    needs_arm_ = true;
    peer.ep_failed = false;
    peer.created_ns = os::now_ns();
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    params.err_mode =
        peer.world_rank >= detect_from_ ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
    params.err_handler.cb = on_ep_error;
    params.err_handler.arg = this;
    peer.address_hash = std::hash<std::string_view>()(address);
    if (peer.world_rank >= detect_from_ && peer.address != address) peer.address = address;
    return ucp_ep_create(worker_, &params, &peer.endpoint) == UCS_OK;
}

int UcxNetwork::connect_to(int world_rank) {
    const auto it = by_rank_.find(world_rank);
    if (it != by_rank_.end() && peers_[it->second].endpoint != nullptr) return static_cast<int>(it->second);
    if (it != by_rank_.end() && peers_[it->second].failed) return -1;
    // A peer that only stopped responding is contacted at its last address: a lookup may block as long as its
    // network is cut off if the launcher is reached through that network.
    const bool unresponsive = it != by_rank_.end() && !peers_[it->second].ep_failed;
    std::string address = unresponsive ? peers_[it->second].address : std::string();
    if (address.empty()) address = resolver_.find(resolver_.subject, world_rank);
    if (address.empty()) return -1;
    PeerState& peer = peer_for(world_rank);
    if (!connect(peer, address)) return -1;
    uint8_t nonce[wire::nonce_bytes];
    std::memcpy(nonce, peer.nonce.data(), sizeof nonce);
    send_handshake(peer, wire::net_hello, nonce);
    return static_cast<int>(by_rank_.at(world_rank));
}

void UcxNetwork::send_handshake(PeerState& peer, uint16_t kind, const uint8_t (&nonce)[wire::nonce_bytes]) {
    wire::HandshakeMessage g{};
    g.kind = kind;
    g.from = world_rank_;
    g.to = peer.world_rank;
    g.token = peer.issued_token;
    std::memcpy(g.nonce, nonce, sizeof nonce);
    SendRequest& s = acquire_request();
    s.handshake =
        auth::sign(g, kind == wire::net_hello ? std::string_view(address_) : std::string_view(), key_);
    const ucp_request_param_t param = request_params(s, UCP_AM_SEND_FLAG_EAGER);
    void* request =
        ucp_am_send_nbx(peer.endpoint, kind, nullptr, 0, s.handshake.data(), s.handshake.size(), &param);
    if (UCS_PTR_IS_ERR(request)) mark_failed(peer, ucs_status_string(UCS_PTR_STATUS(request)));
    if (!UCS_PTR_IS_PTR(request)) release_request(s);
}

// Must not run within a UCX callback: UCX may still hold an event of an endpoint that is closed or created
// here.
void UcxNetwork::on_hello(std::span<const std::byte> bytes) {
    auth::VerifiedMessage hello;
    if (!auth::verify(bytes, wire::net_hello, world_rank_, key_, hello)) {
        ++rejected_messages_;
        return;
    }
    PeerState& peer = peer_for(hello.message.from);
    const uint64_t number = hello_number(hello.message.nonce);
    if (peer.abandoned || number <= peer.last_hello) return; // overtaken by a later hello
    const bool moved = std::hash<std::string_view>()(hello.address) != peer.address_hash;
    const bool peer_has_reset = peer.token != 0 && peer.token != hello.message.token;
    // The peer has reset the connection, so this side must too: UCX silently drops long messages to an
    // endpoint that its owner has closed.
    if (peer.endpoint != nullptr && (moved || peer_has_reset || peer.failed) &&
        peer.world_rank >= detect_from_) {
        mark_failed(peer, "the peer has reset the connection");
        disconnect(peer);
        reset_state(peer);
    }
    peer.last_hello = number;
    if (peer.endpoint == nullptr && !connect(peer, hello.address)) return;
    const bool is_new = peer.token != hello.message.token;
    set_token(peer, hello.message.token);
    send_handshake(peer, wire::net_hello_reply, hello.message.nonce);
    if (is_new) notify_connected(peer);
}

void UcxNetwork::process_hellos() {
    for (const std::vector<std::byte>& hello : std::exchange(pending_hellos_, {})) on_hello(hello);
}

void UcxNetwork::on_hello_reply(std::span<const std::byte> bytes) {
    auth::VerifiedMessage reply;
    const bool authentic = auth::verify(bytes, wire::net_hello_reply, world_rank_, key_, reply);
    const auto it = authentic ? by_rank_.find(reply.message.from) : by_rank_.end();
    if (it == by_rank_.end() ||
        std::memcmp(peers_[it->second].nonce.data(), reply.message.nonce, wire::nonce_bytes) != 0) {
        ++rejected_messages_;
        return;
    }
    PeerState& peer = peers_[it->second];
    if (peer.token != 0) return;
    set_token(peer, reply.message.token);
    notify_connected(peer);
}

// The peer can be sent to from now on; its endpoint is queried once.
void UcxNetwork::set_token(PeerState& peer, uint64_t token) {
    if (peer.token == token) return;
    peer.token = token;
    if (!rdma_) return;
    char* text = nullptr;
    size_t length = 0;
    FILE* description = open_memstream(&text, &length);
    if (description == nullptr) return;
    ucp_ep_print_info(peer.endpoint, description);
    std::fclose(description);
    peer.ep_info = parse_ep_info({text, length});
    std::free(text);
}

ucs_status_t UcxNetwork::on_handshake(void* self, const void*, size_t, void* data, size_t length,
                                      const ucp_am_recv_param_t* param) {
    UcxNetwork* const network = callback_owner(self, param);
    if (network == nullptr) return UCS_OK;
    const std::span bytes(static_cast<const std::byte*>(data), length);
    wire::HandshakeMessage g{}; // the MAC covers its kind
    if (length >= sizeof g) std::memcpy(&g, data, sizeof g);
    if (length > sizeof g + wire::net_address_max)
        ++network->rejected_messages_;
    else if (g.kind == wire::net_hello)
        network->pending_hellos_.emplace_back(bytes.begin(), bytes.end());
    else
        network->on_hello_reply(bytes);
    return UCS_OK;
}

void UcxNetwork::on_ep_error(void* self, ucp_ep_h endpoint, ucs_status_t status) {
    auto& network = *static_cast<UcxNetwork*>(self);
    for (RetiredEndpoint& a : network.retired_endpoints_)
        if (a.endpoint == endpoint) a.close_at_ns = 0;
    for (PeerState& peer : network.peers_) {
        if (peer.endpoint != endpoint) continue;
        peer.ep_failed = true;
        network.mark_failed(peer, ucs_status_string(status));
    }
}

// Closing with force ends all requests on the endpoint. UCX allows it only with error handling enabled.
void UcxNetwork::fail_peer(int world_rank) {
    PeerState& peer = peer_for(world_rank);
    peer.failed = peer.abandoned = true;
    if (peer.world_rank >= detect_from_) disconnect(peer);
}

void UcxNetwork::mark_failed(PeerState& peer, const char* why) {
    ++events_;
    if (std::exchange(peer.failed, true)) return;
    callbacks_.peer_failed(callbacks_.subject, by_rank_.at(peer.world_rank), why);
}

} // namespace zipmpi::transport::ucx
