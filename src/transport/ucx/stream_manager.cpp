// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames over dedicated TCP connections. A gateway offers one to each connected rank, over UCX, with a token
// that is valid for one connection; both sides authenticate there with the job key. UCX remains in use for
// handshakes, failure detection, and frames while there is no stream.
#include "transport/ucx/ucx_network.hpp"

#include "os/clock.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/rand.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace zipmpi::transport::ucx {
namespace {

constexpr uint64_t handshake_timeout_ns = 5'000'000'000; // limit for unauthenticated connections
constexpr size_t max_pending = 64;
constexpr uint32_t ucx_poll_interval = 64;
constexpr uint32_t event_poll_interval = 4; // for descriptors that were idle lately
constexpr size_t max_batched = 32U << 10;   // bytes batched

// epoll user data: a kind and an index.
constexpr uint64_t of_ucx = 0, of_listener = 1, of_stream = 2, of_pending = 3;
constexpr unsigned kind_shift = 56;
uint64_t key_of(uint64_t kind, uint64_t which) { return kind << kind_shift | which; }

sockaddr_in address_of(const wire::StreamOffer& offer) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(offer.port);
    std::memcpy(&a.sin_addr, offer.address, sizeof offer.address);
    return a;
}

// Address of a single TCP interface. Several interfaces, or RDMA, are left to UCX, which uses all of them.
bool find_address(const std::string& device, wire::StreamOffer& offer) {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return false;
    bool found = false;
    for (const ifaddrs* i = all; i != nullptr && !found; i = i->ifa_next) {
        if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET || device != i->ifa_name) continue;
        sockaddr_in a{};
        std::memcpy(&a, i->ifa_addr, sizeof a);
        std::memcpy(offer.address, &a.sin_addr, sizeof offer.address);
        found = true;
    }
    freeifaddrs(all);
    return found;
}

os::Fd new_socket() { return os::Fd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

// Frame buffers are distinguished from UCX descriptors by an odd address.
constexpr uintptr_t frame_buffer_bit = 1;

// Returns null for a UCX descriptor.
tcp::FrameBuffer* frame_buffer_of(void* descriptor) {
    return (reinterpret_cast<uintptr_t>(descriptor) & frame_buffer_bit) != 0
               ? reinterpret_cast<tcp::FrameBuffer*>(static_cast<std::byte*>(descriptor) - frame_buffer_bit)
               : nullptr;
}

} // namespace

bool UcxNetwork::open_events(const std::string& device) {
    epoll_ = os::Fd(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_ || !watch(descriptor_, key_of(of_ucx, 0), EPOLLIN)) return false;
    if (!frame_config_.offers_streams || !find_address(device, offer_)) return true;
    os::Fd fd = new_socket();
    sockaddr_in a = address_of(offer_);
    socklen_t length = sizeof a;
    if (!fd || bind(fd.get(), reinterpret_cast<sockaddr*>(&a), sizeof a) != 0 ||
        ::listen(fd.get(), SOMAXCONN) != 0 ||
        getsockname(fd.get(), reinterpret_cast<sockaddr*>(&a), &length) != 0 ||
        !watch(fd.get(), key_of(of_listener, 0), EPOLLIN))
        return true; // fall back to UCX
    offer_.port = ntohs(a.sin_port);
    listener_ = std::move(fd);
    return true;
}

bool UcxNetwork::watch(int fd, uint64_t key, uint32_t events, bool again) {
    epoll_event e{};
    e.events = events;
    e.data.u64 = key;
    return epoll_ctl(epoll_.get(), again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e) == 0;
}

void UcxNetwork::offer_stream(PeerState& peer) {
    if (peer.token == 0 || peer.failed || peer.endpoint == nullptr) return;
    RAND_bytes(reinterpret_cast<unsigned char*>(&peer.stream_token), sizeof peer.stream_token);
    offer_.token = peer.stream_token;
    SendRequest& s = acquire_request();
    std::memcpy(s.header, &peer.token, sizeof peer.token);
    std::memcpy(s.header + sizeof peer.token, &offer_, sizeof offer_);
    const ucp_request_param_t param = request_params(s, UCP_AM_SEND_FLAG_EAGER);
    void* const request = ucp_am_send_nbx(peer.endpoint, wire::net_stream_offer, nullptr, 0, s.header,
                                          sizeof peer.token + sizeof offer_, &param);
    if (!UCS_PTR_IS_PTR(request)) release_request(s);
    if (UCS_PTR_IS_ERR(request)) mark_failed(peer, ucs_status_string(UCS_PTR_STATUS(request)));
}

ucs_status_t UcxNetwork::on_offer(void* self, const void*, size_t, void* data, size_t length,
                                  const ucp_am_recv_param_t* param) {
    UcxNetwork* const network = callback_owner(self, param);
    if (network == nullptr) return UCS_OK;
    std::span<const std::byte> bytes(static_cast<const std::byte*>(data), length);
    Peer from = 0;
    wire::StreamOffer offer{};
    if (!network->check_token(bytes, from) || bytes.size() != sizeof offer) return UCS_OK;
    std::memcpy(&offer, bytes.data(), sizeof offer);
    // Between gateways both sides would offer.
    if (!network->frame_config_.offers_streams) network->accept_offer(from, offer);
    return UCS_OK;
}

bool UcxNetwork::path_ready(Peer gateway) const {
    const PeerState& peer = peers_[gateway];
    return peer.token != 0 && (!frame_config_.streams || peer.stream != nullptr || peer.no_stream);
}

void UcxNetwork::accept_offer(Peer from, const wire::StreamOffer& offer) {
    close_stream(peers_[from]);
    peers_[from].no_stream = offer.port == 0;
    if (offer.port == 0) return;
    peers_[from].stream_token = offer.token;
    os::Fd fd = new_socket();
    const sockaddr_in a = address_of(offer);
    if (!fd ||
        (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0 && errno != EINPROGRESS))
        return;
    add_pending_stream(std::move(fd), from, true);
}

void UcxNetwork::add_pending_stream(os::Fd fd, Peer peer, bool is_initiator) {
    if (pending_streams_.size() >= max_pending)
        pending_streams_.erase(pending_streams_.begin()); // drop the oldest
    const uint64_t number = next_pending_stream_++;
    if (!watch(fd.get(), key_of(of_pending, number), is_initiator ? EPOLLOUT : EPOLLIN)) return;
    PendingStream& n = pending_streams_[number];
    n.fd = std::move(fd);
    n.peer = peer;
    n.is_initiator = is_initiator;
    n.deadline_ns = os::now_ns() + handshake_timeout_ns;
    RAND_bytes(n.nonce.data(), static_cast<int>(n.nonce.size()));
}

// Returns false if the connection has ended or has become a stream.
bool UcxNetwork::serve_pending_stream(uint64_t number, PendingStream& n) {
    if (n.is_initiator && !n.request_sent) {
        const std::string hello = stream_handshake(wire::net_stream_hello, peers_[n.peer], n.nonce);
        n.request_sent = ::send(n.fd.get(), hello.data(), hello.size(), MSG_NOSIGNAL) ==
                         static_cast<ssize_t>(hello.size());
        return n.request_sent && watch(n.fd.get(), key_of(of_pending, number), EPOLLIN, true);
    }
    char bytes[sizeof(wire::HandshakeMessage)];
    const ssize_t got = recv(n.fd.get(), bytes, sizeof bytes - n.in.size(), 0);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    n.in.append(bytes, static_cast<size_t>(got));
    if (n.in.size() < sizeof bytes) return true;
    if (!on_stream_handshake(n)) ++rejected_messages_;
    return false;
}

std::string UcxNetwork::stream_handshake(uint16_t kind, const PeerState& peer,
                                         std::span<const uint8_t, wire::nonce_bytes> nonce) const {
    wire::HandshakeMessage g{};
    g.kind = kind;
    g.from = world_rank_;
    g.to = peer.world_rank;
    g.token = peer.stream_token;
    std::memcpy(g.nonce, nonce.data(), sizeof g.nonce);
    return auth::sign(g, {}, key_);
}

bool UcxNetwork::on_stream_handshake(PendingStream& n) {
    auth::VerifiedMessage opened;
    const uint16_t kind = n.is_initiator ? wire::net_stream_hello_reply : wire::net_stream_hello;
    if (!auth::verify(std::as_bytes(std::span(n.in)), kind, world_rank_, key_, opened)) return false;
    const wire::HandshakeMessage& g = opened.message;
    const auto it = by_rank_.find(g.from);
    if (it == by_rank_.end()) return false;
    PeerState& peer = peers_[it->second];
    if (peer.stream_token == 0 || peer.stream_token != g.token || peer.failed) return false;
    if (n.is_initiator && (n.peer != it->second || std::memcmp(g.nonce, n.nonce.data(), sizeof g.nonce) != 0))
        return false;
    if (!n.is_initiator) {
        const std::string reply = stream_handshake(wire::net_stream_hello_reply, peer, g.nonce);
        if (::send(n.fd.get(), reply.data(), reply.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(reply.size()))
            return false;
    }
    peer.stream_token = 0;
    begin_stream(peer, std::move(n.fd));
    return true;
}

void UcxNetwork::begin_stream(PeerState& peer, os::Fd fd) {
    close_stream(peer);
    const Peer index = by_rank_.at(peer.world_rank);
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!watch(fd.get(), key_of(of_stream, index), EPOLLIN, true)) return;
    peer.stream_context = {this, index};
    peer.stream = std::make_unique<tcp::FrameStream>(std::move(fd), frame_buffers_, stream_callbacks(peer));
    ++streams_;
}

tcp::FrameStream::StreamCallbacks UcxNetwork::stream_callbacks(PeerState& peer) {
    tcp::FrameStream::StreamCallbacks u{};
    u.subject = &peer.stream_context;
    if (frame_config_.receive_buffer_for != nullptr)
        u.receive_buffer_for = [](void* self, std::span<const std::byte> head, size_t bytes) {
            const UcxNetwork& e = *static_cast<StreamContext*>(self)->network;
            return e.frame_config_.receive_buffer_for(e.callbacks_.subject, head, bytes);
        };
    u.frame_arrived = [](void* self, std::span<const std::byte> head, std::span<const std::byte> data,
                         tcp::FrameBuffer* buffer) {
        const StreamContext& context = *static_cast<StreamContext*>(self);
        UcxNetwork& e = *context.network;
        ++e.events_;
        void* const descriptor = buffer != nullptr ? buffer->bytes + frame_buffer_bit : nullptr;
        return e.callbacks_.frame_arrived != nullptr &&
               e.callbacks_.frame_arrived(
                   e.callbacks_.subject,
                   {context.peer, e.peers_[context.peer].world_rank, head, data, descriptor});
    };
    u.forward_only = frame_config_.offers_streams; // gateways only forward
    u.frame_sent = [](void* self, void* ticket) {
        UcxNetwork& e = *static_cast<StreamContext*>(self)->network;
        ++e.events_;
        e.callbacks_.frame_sent(e.callbacks_.subject, ticket);
    };
    return u;
}

void UcxNetwork::release_frame(void* descriptor) {
    if (tcp::FrameBuffer* const buffer = frame_buffer_of(descriptor); buffer != nullptr)
        frame_buffers_.release(buffer);
    else
        ucp_am_data_release(worker_, descriptor);
}

tcp::FrameBuffer* UcxNetwork::spliced(void* descriptor) const {
    return tcp::spliced_buffer(frame_buffer_of(descriptor));
}

void UcxNetwork::revoke_buffer(std::span<const std::byte> memory) {
    for (PeerState& peer : peers_)
        if (peer.stream != nullptr) peer.stream->revoke_buffer(memory);
}

void UcxNetwork::close_stream(PeerState& peer) {
    peer.stream_token = 0;
    if (peer.stream == nullptr) return;
    const Peer index = by_rank_.at(peer.world_rank);
    std::erase(writing_, index);
    std::erase(waiting_streams_, index);
    std::erase(broken_streams_, index);
    if (active_stream_ == static_cast<int>(index)) active_stream_ = -1;
    --streams_;
    // Destroyed at the end of this function, when the state is consistent: its destructor calls frame_sent().
    const std::unique_ptr<tcp::FrameStream> closed = std::move(peer.stream);
}

// Frames on the stream may be lost. The offering side offers again; the other side calls peer_connected()
// again, so that frames are retransmitted, over UCX while there is no stream.
void UcxNetwork::on_stream_closed(Peer index) {
    PeerState& peer = peers_[index];
    ++events_;
    close_stream(peer);
    if (frame_config_.offers_streams)
        offer_stream(peer);
    else if (!peer.failed)
        notify_connected(peer);
}

PostStatus UcxNetwork::send_by_stream(Peer index, std::span<const std::byte> head,
                                      std::span<const std::byte> data, void* ticket, bool may_wait) {
    PeerState& to = peers_[index];
    tcp::FrameStream& stream = *to.stream;
    if (may_wait && should_batch_frame(to, head.size() + data.size())) {
        if (stream.batched() == 0) waiting_streams_.push_back(index);
        stream.batch(head, data);
        if (stream.batched() < max_batched) return PostStatus::done;
        head = data = {};
        ticket = nullptr;
    }
    const PostStatus posted = stream.send(head, data, ticket);
    after_sending(index, posted != PostStatus::failed);
    return posted;
}

PostStatus UcxNetwork::send_spliced(Peer index, std::span<const std::byte> head,
                                    std::span<const std::byte> data, void* ticket, tcp::FrameBuffer& buffer) {
    PeerState& to = peers_[index];
    if (to.failed || to.endpoint == nullptr || to.token == 0 || to.stream == nullptr)
        return buffer.read_spliced(data.size()) ? send_frame(index, head, data, ticket, false)
                                                : PostStatus::failed;
    const PostStatus posted = to.stream->send(head, data, ticket, &buffer);
    after_sending(index, posted != PostStatus::failed);
    return posted; // do not fall back to UCX after a failure: part of the data was sent
}

void UcxNetwork::after_sending(Peer index, bool went) {
    if (!went)
        broken_streams_.push_back(index);
    else if (peers_[index].stream->has_pending_writes() && std::ranges::count(writing_, index) == 0)
        writing_.push_back(index);
}

void UcxNetwork::flush_streams() {
    while (!waiting_streams_.empty()) {
        const Peer index = waiting_streams_.back();
        waiting_streams_.pop_back();
        after_sending(index, peers_[index].stream->flush());
    }
}

void UcxNetwork::write_streams() {
    for (size_t i = 0; i < writing_.size();) {
        const Peer index = writing_[i];
        tcp::FrameStream& stream = *peers_[index].stream;
        if (!stream.write()) broken_streams_.push_back(index);
        if (stream.has_pending_writes())
            ++i;
        else
            std::erase(writing_, index);
    }
    while (!broken_streams_.empty()) {
        const Peer index = broken_streams_.back();
        broken_streams_.pop_back();
        if (peers_[index].stream != nullptr) on_stream_closed(index);
    }
}

void UcxNetwork::watch_writable_streams() {
    for (const Peer index : writing_) {
        tcp::FrameStream& stream = *peers_[index].stream;
        if (std::exchange(stream.watches_writable, true)) continue;
        watch(stream.descriptor(), key_of(of_stream, index), EPOLLIN | EPOLLOUT, true);
    }
}

void UcxNetwork::read_stream(Peer index) {
    tcp::FrameStream* const stream = peers_[index].stream.get();
    if (stream == nullptr) return;
    const int came = stream->read();
    if (came < 0) return on_stream_closed(index);
    if (came > 0) active_stream_ = static_cast<int>(index);
}

// Returns whether UCX has events.
bool UcxNetwork::poll_events() {
    constexpr int max_events = 64;
    epoll_event events[max_events];
    bool ucx = false;
    const int n = epoll_wait(epoll_.get(), events, max_events, 0);
    for (int i = 0; i < n; ++i) {
        const uint64_t kind = events[i].data.u64 >> kind_shift;
        const uint64_t which = events[i].data.u64 & ((uint64_t{1} << kind_shift) - 1);
        if (kind == of_ucx) {
            ucx = true;
        } else if (kind == of_listener) {
            os::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
            if (fd) add_pending_stream(std::move(fd), 0, false);
        } else if (kind == of_pending) {
            const auto found = pending_streams_.find(which);
            if (found != pending_streams_.end() && !serve_pending_stream(which, found->second))
                pending_streams_.erase(which);
        } else if (tcp::FrameStream* const stream = peers_[which].stream.get(); stream != nullptr) {
            if (stream->watches_writable && !stream->has_pending_writes()) {
                stream->watches_writable = false;
                watch(stream->descriptor(), key_of(of_stream, which), EPOLLIN, true);
            }
            if (static_cast<int>(which) != active_stream_ && (events[i].events & ~EPOLLOUT) != 0)
                read_stream(static_cast<Peer>(which));
        }
    }
    if (!pending_streams_.empty()) {
        const uint64_t now = os::now_ns();
        std::erase_if(pending_streams_, [now](const auto& one) { return one.second.deadline_ns < now; });
    }
    return ucx;
}

// Returns whether UCX needs progress. A poll is a system call: the most recently active descriptor is polled
// every time, the others at intervals. A gateway polls all because it was woken by an event.
bool UcxNetwork::poll_streams() {
    if (streams_ == 0 && pending_streams_.empty() && !listener_) return true;
    write_streams();
    if (active_stream_ >= 0) read_stream(static_cast<Peer>(active_stream_));
    // UCX may need progress to complete earlier operations.
    bool ucx = active_stream_ < 0 || rdma_ || (needs_arm_ && poll_id_ % ucx_poll_interval == 0);
    if (poll_id_ % event_poll_interval == 0 || (frame_config_.offers_streams && events_ == 0))
        ucx = poll_events() || ucx;
    return ucx;
}

} // namespace zipmpi::transport::ucx
