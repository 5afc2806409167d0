// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/links.hpp"

#include "os/clock.hpp"
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
constexpr uint32_t gateway_node_bit = 0x80000000; // no daemon has a node number this high
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

} // namespace

GatewayLinks::GatewayLinks(Forwarder& forwarder, LinkDirectory book)
    : forwarder_(forwarder)
    , directory_(std::move(book)) {
    std::memcpy(key_.data(), forwarder.config().key.data(), key_.size());
    const size_t n =
        forwarder.config().cluster_map.gateways[static_cast<size_t>(forwarder.config().number)].links.size();
    listeners_.resize(n);
    connection_of_link_.resize(n);
    retry_ns_.resize(n);
    forwarder.send_over_link = [this](int link, InTransitFrame* t) { return send(link, t); };
    forwarder.release_link_buffer = [this](void* buffer) {
        frame_buffers_.release(static_cast<transport::tcp::FrameBuffer*>(buffer));
    };
    const auto& links =
        forwarder.config().cluster_map.gateways[static_cast<size_t>(forwarder.config().number)].links;
    for (const bridge::GatewayLink& l : links)
        forwarder.routes().set_link_up(forwarder.config().number, l.to_gateway, false);
}

GatewayLinks::~GatewayLinks() {
    forwarder_.send_over_link = nullptr;
    forwarder_.release_link_buffer = [](void* buffer) {
        delete static_cast<transport::tcp::FrameBuffer*>(buffer);
    };
    connections_.clear(); // drops frames in flight
}

bool GatewayLinks::listen(std::string& why) {
    const auto& links =
        forwarder_.config().cluster_map.gateways[static_cast<size_t>(forwarder_.config().number)].links;
    for (size_t i = 0; i < links.size(); ++i) {
        if (links[i].listen.empty()) continue;
        launch::SocketAddress at;
        if (parse_address(links[i].listen, at)) listeners_[i] = launch::listen_on(at);
        if (!listeners_[i]) {
            why = "cannot listen on " + links[i].listen + ": " + std::strerror(errno);
            return false;
        }
        directory_.publish(static_cast<int>(i), launch::to_text(at));
    }
    return true;
}

void GatewayLinks::register_listeners(int epoll) {
    epoll_ = epoll;
    for (size_t i = 0; i < listeners_.size(); ++i) {
        if (!listeners_[i]) continue;
        epoll_event e{};
        e.events = EPOLLIN;
        e.data.u64 = first_key + i;
        epoll_ctl(epoll, EPOLL_CTL_ADD, listeners_[i].get(), &e);
    }
}

int GatewayLinks::maintain(int epoll) {
    const uint64_t now = os::now_ns();
    int next = -1;
    for (size_t i = 0; i < connection_of_link_.size(); ++i) {
        if (listeners_[i] || connection_of_link_[i] != 0) continue;
        if (now >= retry_ns_[i]) {
            retry_ns_[i] = now + retry_pause_ns;
            connect(epoll, static_cast<int>(i));
        }
        next = static_cast<int>(retry_pause_ns / ms);
    }
    std::vector<uint64_t> late;
    for (const auto& [key, c] : connections_)
        if (c->link < 0 && now > c->since_ns + hello_ns) late.push_back(key);
    for (const uint64_t key : late) close(epoll, key);
    return next;
}

void GatewayLinks::accept(int epoll, int listener) {
    os::Fd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    launch::Nonce nonce;
    if (!fd || !os::fill_random(nonce.data(), nonce.size())) return;
    evict_unauthenticated(epoll);
    auto c = std::make_unique<LinkConnection>();
    c->fd = std::move(fd);
    c->acceptor = std::make_unique<launch::HandshakeAcceptor>(key_, nonce);
    c->out_text = c->acceptor->take_output();
    add(epoll, std::move(c));
}

// Evicts the oldest unauthenticated connection, so that many open connections block no legitimate peer, which
// authenticates quickly.
void GatewayLinks::evict_unauthenticated(int epoll) {
    size_t unauthenticated = 0;
    uint64_t oldest = UINT64_MAX;
    for (const auto& [key, c] : connections_) {
        if (c->link >= 0 || c->is_initiator) continue;
        ++unauthenticated;
        oldest = std::min(oldest, key); // keys increase
    }
    if (unauthenticated >= max_unauthenticated) close(epoll, oldest);
}

void GatewayLinks::connect(int epoll, int link) {
    const GatewayConfig& s = forwarder_.config();
    const bridge::GatewayLink& l =
        s.cluster_map.gateways[static_cast<size_t>(s.number)].links[static_cast<size_t>(link)];
    std::string text = l.connect;
    if (text.empty()) {
        const auto& others = s.cluster_map.gateways[static_cast<size_t>(l.to_gateway)].links;
        for (size_t i = 0; i < others.size(); ++i)
            if (others[i].to_gateway == s.number) text = directory_.lookup(l.to_gateway, static_cast<int>(i));
    }
    launch::SocketAddress to;
    launch::Nonce nonce;
    if (!parse_address(text, to) || !os::fill_random(nonce.data(), nonce.size())) return;
    auto c = std::make_unique<LinkConnection>();
    c->fd = launch::begin_connect(to);
    if (!c->fd) return;
    c->is_initiator = true;
    c->connector = std::make_unique<launch::HandshakeConnector>(
        key_, nonce, gateway_node_bit | static_cast<uint32_t>(s.number));
    retry_ns_[static_cast<size_t>(link)] = os::now_ns() + hello_ns;
    c->link = -1 - link - 1; // not authenticated; encodes the intended link
    add(epoll, std::move(c));
}

void GatewayLinks::add(int epoll, std::unique_ptr<LinkConnection> c) {
    c->since_ns = os::now_ns();
    launch::tune_socket(c->fd.get());
    epoll_event e{};
    e.events = EPOLLIN | EPOLLOUT;
    c->watches_writable = true;
    e.data.u64 = next_key_;
    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd.get(), &e);
    connections_.emplace(next_key_++, std::move(c));
}

void GatewayLinks::on_event(int epoll, uint64_t key, uint32_t events) {
    if (key - first_key < listeners_.size()) return accept(epoll, listeners_[key - first_key].get());
    const auto found = connections_.find(key);
    if (found == connections_.end()) return;
    LinkConnection& c = *found->second;
    const bool fine = (events & (EPOLLERR | EPOLLHUP)) == 0 && progress_connection(c);
    if (!fine || !connections_.contains(key)) return close(epoll, key);
    if (c.link >= 0 && connection_of_link_[static_cast<size_t>(c.link)] !=
                           key) { // just authenticated: replaces an older connection
        const uint64_t old = std::exchange(connection_of_link_[static_cast<size_t>(c.link)], key);
        if (old != 0) close(epoll, old);
        const GatewayConfig& s = forwarder_.config();
        const int other = s.cluster_map.gateways[static_cast<size_t>(s.number)]
                              .links[static_cast<size_t>(c.link)]
                              .to_gateway;
        forwarder_.on_link_change(other, true);
    }
    watch(epoll, key);
}

void GatewayLinks::watch(int epoll, uint64_t key) {
    LinkConnection& c = *connections_.at(key);
    const bool wants = (c.stream != nullptr && c.stream->has_pending_writes()) || !c.out_text.empty();
    if (wants == c.watches_writable) return;
    c.watches_writable = wants;
    epoll_event e{};
    e.events = EPOLLIN | (wants ? EPOLLOUT : 0U);
    e.data.u64 = key;
    epoll_ctl(epoll, EPOLL_CTL_MOD, c.descriptor(), &e);
}

void GatewayLinks::close(int epoll, uint64_t key) {
    const auto found = connections_.find(key);
    if (found == connections_.end()) return;
    const std::unique_ptr<LinkConnection> c = std::move(found->second);
    connections_.erase(found);
    epoll_ctl(epoll, EPOLL_CTL_DEL, c->descriptor(), nullptr);
    const GatewayConfig& s = forwarder_.config();
    if (c->link < -1) retry_ns_[static_cast<size_t>(-c->link - 2)] = os::now_ns() + retry_pause_ns;
    if (c->link >= 0 && connection_of_link_[static_cast<size_t>(c->link)] == key) {
        connection_of_link_[static_cast<size_t>(c->link)] = 0;
        retry_ns_[static_cast<size_t>(c->link)] = os::now_ns();
        const int other = s.cluster_map.gateways[static_cast<size_t>(s.number)]
                              .links[static_cast<size_t>(c->link)]
                              .to_gateway;
        forwarder_.on_link_change(other, false);
    }
    if (c->link >= 0) gateway::add(forwarder_.stats().link(c->link).dropped, c->queued);
}

bool GatewayLinks::progress_connection(LinkConnection& c) {
    if (c.link < 0 && !run_handshake(c)) return false;
    if (c.link < 0) return true;
    // While the buffer limit is exhausted, data stays in the kernel and TCP slows the sender down.
    return c.stream->write() && (forwarder_.is_full() || c.stream->read() >= 0);
}

bool GatewayLinks::run_handshake(LinkConnection& c) {
    for (;;) {
        if (!c.out_text.empty()) {
            const ssize_t n = ::send(c.fd.get(), c.out_text.data(), c.out_text.size(), MSG_NOSIGNAL);
            if (n < 0) return errno == EAGAIN || errno == ENOTCONN || errno == EINPROGRESS;
            c.out_text.erase(0, static_cast<size_t>(n));
            if (!c.out_text.empty()) return true;
        }
        launch::Handshake& handshake =
            c.is_initiator ? static_cast<launch::Handshake&>(*c.connector) : *c.acceptor;
        if (handshake.state() == launch::HandshakeState::authenticated)
            return on_authenticated(c, c.is_initiator ? 0 : c.acceptor->node());
        char bytes[128];
        const ssize_t n = recv(c.fd.get(), bytes, std::min(sizeof bytes, handshake.bytes_needed()), 0);
        if (n < 0) return errno == EAGAIN || errno == EINTR || errno == ENOTCONN;
        if (n == 0) return false;
        const std::string_view came(bytes, static_cast<size_t>(n));
        const launch::HandshakeState state =
            c.is_initiator ? c.connector->feed(came) : c.acceptor->feed(came);
        if (state == launch::HandshakeState::rejected) return false;
        c.out_text += handshake.take_output();
    }
}

bool GatewayLinks::on_authenticated(LinkConnection& c, uint32_t node) {
    const GatewayConfig& s = forwarder_.config();
    const auto& links = s.cluster_map.gateways[static_cast<size_t>(s.number)].links;
    int link = c.is_initiator ? -c.link - 2 : -1;
    for (size_t i = 0; i < links.size() && !c.is_initiator; ++i)
        if (node == (gateway_node_bit | static_cast<uint32_t>(links[i].to_gateway)))
            link = static_cast<int>(i);
    c.link = link;
    if (link < 0) return false;
    c.links = this;
    c.stream =
        std::make_unique<transport::tcp::FrameStream>(std::move(c.fd), frame_buffers_, callbacks_for(c));
    return true;
}

transport::tcp::FrameStream::StreamCallbacks GatewayLinks::callbacks_for(LinkConnection& connection) {
    transport::tcp::FrameStream::StreamCallbacks u{};
    u.subject = &connection;
    u.frame_arrived = [](void* self, std::span<const std::byte> head, std::span<const std::byte> data,
                         transport::tcp::FrameBuffer* buffer) {
        const LinkConnection& c = *static_cast<LinkConnection*>(self);
        Forwarder& forwarder = c.links->forwarder_;
        const GatewayConfig& s = forwarder.config();
        const int from = bridge::gateway_id(s.job_size, s.cluster_map.gateways[static_cast<size_t>(s.number)]
                                                            .links[static_cast<size_t>(c.link)]
                                                            .to_gateway);
        return forwarder.on_frame(-1, from, head, data, buffer, transport::tcp::spliced_buffer(buffer));
    };
    u.forward_only = true;
    u.frame_sent = [](void* self, void* ticket) {
        LinkConnection& c = *static_cast<LinkConnection*>(self);
        --c.queued;
        subtract(c.links->forwarder_.stats().link(c.link).queued);
        c.links->forwarder_.on_frame_sent(static_cast<InTransitFrame*>(ticket));
    };
    return u;
}

bool GatewayLinks::send(int link, InTransitFrame* t) {
    const uint64_t key = connection_of_link_[static_cast<size_t>(link)];
    if (key == 0) return false;
    LinkConnection& c = *connections_.at(key);
    if (t->bytes <= max_batched_frame) { // sent with others of this round
        if (c.stream->batched() == 0) batching_.push_back(link);
        c.stream->batch(t->head, t->data);
        forwarder_.on_frame_sent(t);
        return true;
    }
    const PostStatus posted = c.stream->send(t->head, t->data, t, t->spliced);
    if (posted == PostStatus::in_flight) {
        ++c.queued;
        gateway::add(forwarder_.stats().link(link).queued);
    } else {
        forwarder_.on_frame_sent(t); // an error shows in the next event
    }
    watch(epoll_, key);
    return true;
}

void GatewayLinks::flush() {
    for (const int link : std::exchange(batching_, {})) {
        const uint64_t key = connection_of_link_[static_cast<size_t>(link)];
        if (key == 0) continue;
        static_cast<void>(connections_.at(key)->stream->flush());
        watch(epoll_, key);
    }
}

} // namespace zipmpi::gateway
