// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Peers: who they are, and how two of them get to know each other. The one that wants to send first says
// hello; the other answers with a welcome. Each gives the other a pass, so that after one round trip both can
// send. Two hellos that cross are both answered.
#include "transport/ucx/engine.hpp"

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

// A nonce begins with a number that rises from hello to hello, also when a process is started again on its
// host.
uint64_t number_of(const uint8_t* nonce) {
    uint64_t number = 0;
    std::memcpy(&number, nonce, sizeof number);
    return number;
}

constexpr uint64_t connecting_ns = 1'000'000'000;
constexpr uint64_t connected_for_sure_ns = 10'000'000'000;
constexpr size_t most_aside = 64;

} // namespace

Engine::Known& Engine::meet(int world_rank) {
    const auto known = by_rank_.find(world_rank);
    if (known != by_rank_.end()) return peers_[known->second];
    const auto index = static_cast<Peer>(peers_.size());
    by_rank_.emplace(world_rank, index);
    Known& peer = peers_.emplace_back();
    peer.world_rank = world_rank;
    make_stranger(peer);
    return peer;
}

// Nothing is known of it yet, or any more.
void Engine::make_stranger(Known& peer) {
    uint64_t bits = 0;
    RAND_bytes(reinterpret_cast<unsigned char*>(&bits), sizeof bits);
    const uint64_t number = std::max(number_of(peer.nonce.data()) + 1, os::now_ns());
    std::memcpy(peer.nonce.data(), &number, sizeof number);
    RAND_bytes(peer.nonce.data() + sizeof number, static_cast<int>(peer.nonce.size() - sizeof number));
    peer.given_pass = bits << pass_index_bits | by_rank_.at(peer.world_rank);
    peer.pass = 0;
    peer.sent = peer.taken = 0;
    peer.lost = peer.offers_none = false;
    close_stream(peer);
    for (const Early& early : peer.early) delete early.bytes;
    peer.early.clear();
    if (peer.frames != nullptr) give_back(*std::exchange(peer.frames, nullptr));
}

void Engine::close_now(ucp_ep_h endpoint) {
    ucp_request_param_t force{};
    force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK;
    force.flags = UCP_EP_CLOSE_FLAG_FORCE;
    force.cb.send = [](void* request, ucs_status_t, void*) { ucp_request_free(request); };
    static_cast<void>(ucp_ep_close_nbx(endpoint, &force));
}

// UCX 1.13 aborts when an endpoint is closed that is still about to connect, so such a one is put aside.
void Engine::disconnect(Known& peer) {
    if (peer.endpoint == nullptr) return;
    touched_ = true; // a device without endpoints wakes nobody unless it is armed
    const bool young = os::now_ns() - peer.made_ns < connecting_ns;
    ucp_ep_h endpoint = std::exchange(peer.endpoint, nullptr);
    if (!peer.failed && (young || peer.pass == 0))
        aside_.push_back({endpoint, os::now_ns() + connected_for_sure_ns});
    else
        close_now(endpoint);
}

void Engine::close_aside() {
    const uint64_t now = os::now_ns();
    size_t too_many = aside_.size() - std::min(aside_.size(), most_aside); // the oldest come first
    std::erase_if(aside_, [&](const Aside& a) {
        const bool over = a.until_ns < now || too_many > 0;
        if (!over) return false;
        too_many -= too_many > 0 ? 1 : 0;
        close_now(a.endpoint);
        return true;
    });
}

void Engine::forget(Peer index) {
    Known& peer = peers_[index];
    disconnect(peer);
    make_stranger(peer);
}

void Engine::tell_met(Known& peer) {
    ++happened_;
    if (frames_.offers) offer_stream(peer);
    if (sink_.met != nullptr) sink_.met(sink_.subject, by_rank_.at(peer.world_rank), peer.world_rank);
}

bool Engine::connect(Known& peer, std::string_view address) {
    touched_ = true;
    peer.failed = false;
    peer.made_ns = os::now_ns();
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    params.err_mode =
        peer.world_rank >= watch_from_ ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
    params.err_handler.cb = on_lost;
    params.err_handler.arg = this;
    peer.address_hash = std::hash<std::string_view>()(address);
    if (peer.world_rank >= watch_from_ && peer.address != address) peer.address = address;
    return ucp_ep_create(worker_, &params, &peer.endpoint) == UCS_OK;
}

int Engine::reach(int world_rank) {
    const auto known = by_rank_.find(world_rank);
    if (known != by_rank_.end() && peers_[known->second].endpoint != nullptr)
        return static_cast<int>(known->second);
    if (known != by_rank_.end() && peers_[known->second].lost) return -1;
    // One that was silent is greeted where it was: to ask where it is may take as long as its network is cut
    // off, if that leads to the launcher too.
    const bool was_silent = known != by_rank_.end() && !peers_[known->second].failed;
    std::string address = was_silent ? peers_[known->second].address : std::string();
    if (address.empty()) address = book_.find(book_.subject, world_rank);
    if (address.empty()) return -1;
    Known& peer = meet(world_rank);
    if (!connect(peer, address)) return -1;
    uint8_t nonce[wire::nonce_bytes];
    std::memcpy(nonce, peer.nonce.data(), sizeof nonce);
    greet(peer, wire::net_hello, nonce);
    return static_cast<int>(by_rank_.at(world_rank));
}

void Engine::greet(Known& peer, uint16_t kind, const uint8_t (&nonce)[wire::nonce_bytes]) {
    wire::Greeting g{};
    g.kind = kind;
    g.from = world_rank_;
    g.to = peer.world_rank;
    g.pass = peer.given_pass;
    std::memcpy(g.nonce, nonce, sizeof nonce);
    Sending& s = take_sending();
    s.greeting = seal(g, kind == wire::net_hello ? std::string_view(address_) : std::string_view(), key_);
    const ucp_request_param_t param = asking_for(s, UCP_AM_SEND_FLAG_EAGER);
    void* request =
        ucp_am_send_nbx(peer.endpoint, kind, nullptr, 0, s.greeting.data(), s.greeting.size(), &param);
    if (UCS_PTR_IS_ERR(request)) lose(peer, ucs_status_string(UCS_PTR_STATUS(request)));
    if (!UCS_PTR_IS_PTR(request)) give_back(s);
}

// Not from within an event: an endpoint that is closed, or made, then may be one that UCX still has an event
// of.
void Engine::take_hello(std::span<const std::byte> bytes) {
    Opened hello;
    if (!unseal(bytes, wire::net_hello, world_rank_, key_, hello)) {
        ++strangers_;
        return;
    }
    Known& peer = meet(hello.greeting.from);
    const uint64_t number = number_of(hello.greeting.nonce);
    if (peer.given_up || number <= peer.heard_hello) return; // a later one has overtaken it
    const bool moved = std::hash<std::string_view>()(hello.address) != peer.address_hash;
    const bool gave_us_up = peer.pass != 0 && peer.pass != hello.greeting.pass;
    // It begins anew. So must we: UCX drops long messages to an endpoint that its owner has closed, and says
    // nothing.
    if (peer.endpoint != nullptr && (moved || gave_us_up || peer.lost) && peer.world_rank >= watch_from_) {
        lose(peer, "it has begun anew");
        disconnect(peer);
        make_stranger(peer);
    }
    peer.heard_hello = number;
    if (peer.endpoint == nullptr && !connect(peer, hello.address)) return;
    const bool is_new = peer.pass != hello.greeting.pass;
    take_pass(peer, hello.greeting.pass);
    greet(peer, wire::net_welcome, hello.greeting.nonce);
    if (is_new) tell_met(peer);
}

void Engine::take_hellos() {
    for (const std::vector<std::byte>& hello : std::exchange(hellos_, {})) take_hello(hello);
}

void Engine::take_welcome(std::span<const std::byte> bytes) {
    Opened welcome;
    const bool sealed = unseal(bytes, wire::net_welcome, world_rank_, key_, welcome);
    const auto known = sealed ? by_rank_.find(welcome.greeting.from) : by_rank_.end();
    if (known == by_rank_.end() ||
        std::memcmp(peers_[known->second].nonce.data(), welcome.greeting.nonce, wire::nonce_bytes) != 0) {
        ++strangers_;
        return;
    }
    Known& peer = peers_[known->second];
    if (peer.pass != 0) return;
    take_pass(peer, welcome.greeting.pass);
    tell_met(peer);
}

// From now on messages can go there: how they do is asked once.
void Engine::take_pass(Known& peer, uint64_t pass) {
    if (peer.pass == pass) return;
    peer.pass = pass;
    if (!rdma_) return;
    char* text = nullptr;
    size_t length = 0;
    FILE* description = open_memstream(&text, &length);
    if (description == nullptr) return;
    ucp_ep_print_info(peer.endpoint, description);
    std::fclose(description);
    peer.way = read_way({text, length});
    std::free(text);
}

ucs_status_t Engine::on_greeting(void* self, const void*, size_t, void* data, size_t length,
                                 const ucp_am_recv_param_t* param) {
    Engine* const engine = with_data(self, param);
    if (engine == nullptr) return UCS_OK;
    const std::span bytes(static_cast<const std::byte*>(data), length);
    wire::Greeting g{}; // its kind is proven with the rest
    if (length >= sizeof g) std::memcpy(&g, data, sizeof g);
    if (length > sizeof g + wire::net_address_max)
        ++engine->strangers_;
    else if (g.kind == wire::net_hello)
        engine->hellos_.emplace_back(bytes.begin(), bytes.end());
    else
        engine->take_welcome(bytes);
    return UCS_OK;
}

void Engine::on_lost(void* self, ucp_ep_h endpoint, ucs_status_t status) {
    auto& engine = *static_cast<Engine*>(self);
    for (Aside& a : engine.aside_)
        if (a.endpoint == endpoint) a.until_ns = 0;
    for (Known& peer : engine.peers_) {
        if (peer.endpoint != endpoint) continue;
        peer.failed = true;
        engine.lose(peer, ucs_status_string(status));
    }
}

// Closing without the peer's help ends all requests on the endpoint. UCX allows it where it watches peers.
void Engine::give_up(int world_rank) {
    Known& peer = meet(world_rank);
    peer.lost = peer.given_up = true;
    if (peer.world_rank >= watch_from_) disconnect(peer);
}

void Engine::lose(Known& peer, const char* why) {
    ++happened_;
    if (std::exchange(peer.lost, true)) return;
    sink_.lost(sink_.subject, by_rank_.at(peer.world_rank), why);
}

} // namespace zipmpi::transport::ucx
