// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/links.hpp"

#include "launch/protocol/socket_address.hpp"
#include "os/clock.hpp"
#include "os/crypto_module.hpp"
#include "os/random.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>

namespace zipmpi::gateway {
namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t retry_pause_ns = 200 * ms; // before reconnecting
constexpr uint64_t hello_ns = 5000 * ms;      // limit for unauthenticated connections
constexpr size_t max_unauthenticated = 64;
constexpr size_t max_batched_frame = size_t{2} << 10;

bool parse_address(const std::string& text, launch::SocketAddress& out) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) return false;
    std::string address = text.substr(0, colon);
    if (address.size() > 2 && address.front() == '[') address = address.substr(1, address.size() - 2);
    unsigned char bytes[16];
    for (const auto& [family, size] : {std::pair(AF_INET, size_t{4}), std::pair(AF_INET6, size_t{16})})
        if (inet_pton(family, address.c_str(), bytes) == 1)
            out.address.assign(reinterpret_cast<const char*>(bytes), size);
    out.port = static_cast<uint32_t>(std::strtoul(text.c_str() + colon + 1, nullptr, 10));
    return !out.address.empty() && out.port < 65536;
}

void set_events(int epoll, int operation, int descriptor, uint64_t key, uint32_t events) {
    epoll_event e{};
    e.events = events;
    e.data.u64 = key;
    epoll_ctl(epoll, operation, descriptor, &e);
}

} // namespace

GatewayLinks::GatewayLinks(Forwarder& forwarder, LinkDirectory book)
    : forwarder_(forwarder)
    , directory_(std::move(book))
    , links_(forwarder.config().links().size()) {
    std::memcpy(key_.data(), forwarder.config().hop_key.data(), key_.size());
    forwarder.use_links(this);
}

GatewayLinks::~GatewayLinks() {
    forwarder_.use_links(nullptr);
    connections_.clear(); // drops frames in flight
}

bool GatewayLinks::listen(std::string& why) {
    const auto& links = forwarder_.config().links();
    if (links.empty()) return true;
    crypto_ = os::load_crypto(why);
    if (crypto_ == nullptr) return false;
    for (size_t i = 0; i < links.size(); ++i) {
        if (links[i].listen.empty()) continue;
        launch::SocketAddress at;
        if (parse_address(links[i].listen, at)) links_[i].listener = launch::listen_on(at);
        if (!links_[i].listener) {
            why = "cannot listen on " + links[i].listen + ": " + std::strerror(errno);
            return false;
        }
        directory_.publish(static_cast<int>(i), launch::to_text(at));
    }
    return true;
}

void GatewayLinks::watch_on(int epoll) {
    epoll_ = epoll;
    for (size_t i = 0; i < links_.size(); ++i)
        if (links_[i].listener)
            set_events(epoll_, EPOLL_CTL_ADD, links_[i].listener.get(), first_key + i, EPOLLIN);
}

int GatewayLinks::maintain() {
    const uint64_t now = os::now_ns();
    int next = -1;
    for (size_t i = 0; i < links_.size(); ++i) {
        Link& l = links_[i];
        if (l.listener || l.connection != 0) continue;
        if (now >= l.retry_ns) {
            l.retry_ns = now + retry_pause_ns;
            connect(static_cast<int>(i));
        }
        next = static_cast<int>(retry_pause_ns / ms);
    }
    close_late(now);
    return next;
}

void GatewayLinks::close_late(uint64_t now) {
    std::vector<uint64_t> late;
    for (const auto& [key, c] : connections_)
        if (!c->is_authenticated() && now > c->since_ns() + hello_ns) late.push_back(key);
    for (const uint64_t key : late) close(key);
}

void GatewayLinks::accept(int listener) {
    os::Fd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    launch::Nonce nonce;
    launch::Handshake::Exchange exchange = fd ? crypto_->new_exchange() : nullptr;
    if (exchange == nullptr || !os::fill_random(nonce.data(), nonce.size())) return;
    evict_unauthenticated();
    add(std::make_unique<LinkConnection>(
        LinkConnection::LinkContext{forwarder_, buffers_}, std::move(fd),
        std::make_unique<launch::HandshakeAcceptor>(key_, nonce, std::move(exchange))));
}

// Evicts the oldest unauthenticated connection, so that many open connections block no legitimate peer, which
// authenticates quickly.
void GatewayLinks::evict_unauthenticated() {
    size_t unauthenticated = 0;
    uint64_t oldest = UINT64_MAX;
    for (const auto& [key, c] : connections_) {
        if (c->is_authenticated() || c->is_initiator()) continue;
        ++unauthenticated;
        oldest = std::min(oldest, key); // keys increase
    }
    if (unauthenticated >= max_unauthenticated) close(oldest);
}

// As configured, or else as the other gateway has published it.
std::string GatewayLinks::address_of(int link) const {
    const GatewayConfig& config = forwarder_.config();
    const bridge::GatewayLink& l = config.links()[static_cast<size_t>(link)];
    std::string text = l.connect;
    if (!text.empty()) return text;
    const auto& others = config.cluster_map.gateways[static_cast<size_t>(l.to_gateway)].links;
    for (size_t i = 0; i < others.size(); ++i)
        if (others[i].to_gateway == config.number)
            text = directory_.lookup(l.to_gateway, static_cast<int>(i));
    return text;
}

void GatewayLinks::connect(int link) {
    launch::SocketAddress to;
    launch::Nonce nonce;
    if (!parse_address(address_of(link), to) || !os::fill_random(nonce.data(), nonce.size())) return;
    os::Fd fd = launch::begin_connect(to);
    launch::Handshake::Exchange exchange = fd ? crypto_->new_exchange() : nullptr;
    if (exchange == nullptr) return;
    at(link).retry_ns = os::now_ns() + hello_ns;
    auto connector = std::make_unique<launch::HandshakeConnector>(key_, nonce, std::move(exchange),
                                                                  handshake_node(forwarder_.config().number));
    add(std::make_unique<LinkConnection>(LinkConnection::LinkContext{forwarder_, buffers_}, std::move(fd),
                                         std::move(connector), link));
}

void GatewayLinks::add(std::unique_ptr<LinkConnection> c) {
    launch::tune_socket(c->descriptor());
    set_events(epoll_, EPOLL_CTL_ADD, c->descriptor(), next_key_, EPOLLIN | EPOLLOUT);
    connections_.emplace(next_key_++, std::move(c));
}

void GatewayLinks::on_event(uint64_t key, uint32_t events) {
    if (key - first_key < links_.size()) return accept(links_[key - first_key].listener.get());
    const auto found = connections_.find(key);
    if (found == connections_.end()) return;
    LinkConnection& c = *found->second;
    const bool fine = (events & (EPOLLERR | EPOLLHUP)) == 0 && c.progress();
    if (!fine || !connections_.contains(key)) return close(key);
    if (c.is_authenticated() && at(c.link()).connection != key) on_authenticated(key, c.link());
    watch(key);
}

// Replaces an older connection.
void GatewayLinks::on_authenticated(uint64_t key, int link) {
    const uint64_t old = std::exchange(at(link).connection, key);
    if (old != 0) close(old);
    forwarder_.on_link_up(other_gateway(link));
}

void GatewayLinks::watch(uint64_t key) {
    LinkConnection& c = *connections_.at(key);
    const bool wants = c.has_pending_writes();
    if (wants == c.watches_writable) return;
    c.watches_writable = wants;
    set_events(epoll_, EPOLL_CTL_MOD, c.descriptor(), key, EPOLLIN | (wants ? EPOLLOUT : 0U));
}

void GatewayLinks::close(uint64_t key) {
    const auto found = connections_.find(key);
    if (found == connections_.end()) return;
    const std::unique_ptr<LinkConnection> c = std::move(found->second);
    connections_.erase(found);
    epoll_ctl(epoll_, EPOLL_CTL_DEL, c->descriptor(), nullptr);
    if (!c->is_authenticated()) {
        if (c->intended_link() >= 0) at(c->intended_link()).retry_ns = os::now_ns() + retry_pause_ns;
        return;
    }
    Link& l = at(c->link());
    if (l.connection == key) {
        l.connection = 0;
        l.retry_ns = os::now_ns();
        forwarder_.on_link_down(other_gateway(c->link()));
    }
    gateway::add(forwarder_.stats().link(c->link()).dropped, c->queued());
}

bool GatewayLinks::send(int link, InTransitFrame& t) {
    const uint64_t key = at(link).connection;
    if (key == 0) return false;
    LinkConnection& c = *connections_.at(key);
    if (t.bytes <= max_batched_frame) { // sent with others of this round
        if (c.batch(t)) batching_.push_back(link);
        return true;
    }
    c.send(t);
    watch(key);
    return true;
}

void GatewayLinks::flush() {
    for (const int link : std::exchange(batching_, {})) {
        const uint64_t key = at(link).connection;
        if (key == 0) continue;
        connections_.at(key)->flush();
        watch(key);
    }
}

} // namespace zipmpi::gateway
