// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/stream_authenticator.hpp"

#include "os/clock.hpp"
#include "transport/auth/nonce.hpp"
#include "transport/tcp/stream_socket.hpp"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <utility>

namespace zipmpi::transport::tcp {
namespace {

constexpr uint64_t handshake_timeout_ns = 5'000'000'000;
constexpr size_t max_pending = 64;

} // namespace

StreamAuthenticator::StreamAuthenticator(int own_id, const auth::HandshakeKeys& keys,
                                         const StreamPeers& peers, EventPoll& events, PollCounters& counters)
    : own_id_(own_id)
    , keys_(keys)
    , peers_(peers)
    , events_(events)
    , counters_(counters) {}

uint64_t& StreamAuthenticator::token_of(Peer peer) {
    if (tokens_.size() <= peer) tokens_.resize(size_t{peer} + 1);
    return tokens_[peer];
}

uint64_t StreamAuthenticator::issue_token(Peer peer) { return token_of(peer) = auth::random_token(); }

void StreamAuthenticator::revoke_token(Peer peer) { token_of(peer) = 0; }

void StreamAuthenticator::connect(Peer peer, const wire::StreamOffer& offer) {
    token_of(peer) = offer.token;
    os::Fd fd = new_socket();
    const sockaddr_in a = address_of(offer);
    if (!fd ||
        (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0 && errno != EINPROGRESS))
        return;
    add(std::move(fd), peer, Side::initiator);
}

void StreamAuthenticator::add(os::Fd fd, Peer peer, Side side) {
    if (pending_.size() >= max_pending) pending_.erase(pending_.begin()); // drop the oldest
    const uint64_t number = next_number_++;
    if (!events_.add(fd.get(), {EventSource::pending, number}, side == Side::initiator ? EPOLLOUT : EPOLLIN))
        return;
    PendingStream& n = pending_[number];
    n.fd = std::move(fd);
    n.peer = peer;
    n.side = side;
    n.deadline_ns = os::now_ns() + handshake_timeout_ns;
    auth::fill_random(n.nonce);
}

std::optional<StreamAuthenticator::Connection> StreamAuthenticator::serve(uint64_t number) {
    const auto found = pending_.find(number);
    if (found == pending_.end()) return std::nullopt;
    const Progress progress = advance(number, found->second);
    if (progress == Progress::waiting) return std::nullopt;
    PendingStream ended = std::move(found->second);
    pending_.erase(found);
    if (progress == Progress::ended) return std::nullopt;
    return Connection{ended.peer, std::move(ended.fd)};
}

StreamAuthenticator::Progress StreamAuthenticator::advance(uint64_t number, PendingStream& n) {
    if (n.side == Side::initiator && !n.request_sent)
        return send_hello(number, n) ? Progress::waiting : Progress::ended;
    char bytes[sizeof(wire::HandshakeMessage)];
    const ssize_t got = recv(n.fd.get(), bytes, sizeof bytes - n.in.size(), 0);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR) ? Progress::waiting : Progress::ended;
    n.in.append(bytes, static_cast<size_t>(got));
    if (n.in.size() < sizeof bytes) return Progress::waiting;
    if (on_handshake(n)) return Progress::authenticated;
    ++counters_.rejected_messages;
    return Progress::ended;
}

bool StreamAuthenticator::send_hello(uint64_t number, PendingStream& n) {
    const std::string hello = message_to(n.peer, wire::net_stream_hello, n.nonce);
    n.request_sent =
        ::send(n.fd.get(), hello.data(), hello.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(hello.size());
    return n.request_sent && events_.change(n.fd.get(), {EventSource::pending, number}, EPOLLIN);
}

std::string StreamAuthenticator::message_to(Peer peer, uint16_t kind,
                                            std::span<const uint8_t, wire::nonce_bytes> nonce) const {
    return auth::sign(
        {.kind = kind, .from = own_id_, .to = peers_.id_of(peer), .token = tokens_[peer], .nonce = nonce}, {},
        keys_);
}

bool StreamAuthenticator::on_handshake(PendingStream& n) {
    auth::VerifiedMessage opened;
    const bool initiator = n.side == Side::initiator;
    const uint16_t kind = initiator ? wire::net_stream_hello_reply : wire::net_stream_hello;
    if (!auth::verify(std::as_bytes(std::span(n.in)), kind, own_id_, keys_, opened)) return false;
    const wire::HandshakeMessage& g = opened.message;
    const int found = peers_.find(g.from);
    if (found < 0) return false;
    const auto peer = static_cast<Peer>(found);
    if (token_of(peer) == 0 || token_of(peer) != g.token || peers_.has_failed(peer)) return false;
    if (initiator && (n.peer != peer || std::memcmp(g.nonce, n.nonce.data(), sizeof g.nonce) != 0))
        return false;
    if (!initiator) {
        const std::string reply = message_to(peer, wire::net_stream_hello_reply, g.nonce);
        if (::send(n.fd.get(), reply.data(), reply.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(reply.size()))
            return false;
    }
    revoke_token(peer);
    n.peer = peer;
    return true;
}

void StreamAuthenticator::drop_expired() {
    if (pending_.empty()) return;
    const uint64_t now = os::now_ns();
    std::erase_if(pending_, [now](const auto& one) { return one.second.deadline_ns < now; });
}

} // namespace zipmpi::transport::tcp
