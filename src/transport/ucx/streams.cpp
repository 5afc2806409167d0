// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames over TCP connections of their own. A gateway offers one to each rank that it meets, by UCX, with a
// token that is good for one connection; both prove there that they have the key of the job. UCX stays: it
// meets, it notices who is lost, and it carries frames while there is no stream.
#include "transport/ucx/engine.hpp"

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

constexpr uint64_t newcomer_ns = 5'000'000'000; // a stranger may hold a connection no longer
constexpr size_t most_newcomers = 64;
constexpr uint32_t looks_apart_at_ucx = 64;
constexpr uint32_t looks_apart = 4;          // at what has not brought anything lately
constexpr size_t most_in_stream = 32U << 10; // gathered

// What epoll tells: a kind, and which one.
constexpr uint64_t of_ucx = 0, of_listener = 1, of_stream = 2, of_newcomer = 3;
constexpr unsigned kind_shift = 56;
uint64_t key_of(uint64_t kind, uint64_t which) { return kind << kind_shift | which; }

sockaddr_in address_of(const wire::StreamOffer& offer) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(offer.port);
    std::memcpy(&a.sin_addr, offer.address, sizeof offer.address);
    return a;
}

// Of one interface. Several of them, or RDMA, are for UCX, which uses all at once.
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

// Rooms among descriptors of UCX are those with an odd address: that of the second byte.
constexpr uintptr_t room_mark = 1;

// Null: it is one of UCX.
Room* room_of(void* descriptor) {
    return (reinterpret_cast<uintptr_t>(descriptor) & room_mark) != 0
               ? reinterpret_cast<Room*>(static_cast<std::byte*>(descriptor) - room_mark)
               : nullptr;
}

} // namespace

bool Engine::open_events(const std::string& device) {
    events_ = os::Fd(epoll_create1(EPOLL_CLOEXEC));
    if (!events_ || !watch(descriptor_, key_of(of_ucx, 0), EPOLLIN)) return false;
    if (!frames_.offers || !find_address(device, offer_)) return true;
    os::Fd fd = new_socket();
    sockaddr_in a = address_of(offer_);
    socklen_t length = sizeof a;
    if (!fd || bind(fd.get(), reinterpret_cast<sockaddr*>(&a), sizeof a) != 0 ||
        ::listen(fd.get(), SOMAXCONN) != 0 ||
        getsockname(fd.get(), reinterpret_cast<sockaddr*>(&a), &length) != 0 ||
        !watch(fd.get(), key_of(of_listener, 0), EPOLLIN))
        return true; // UCX does it
    offer_.port = ntohs(a.sin_port);
    listener_ = std::move(fd);
    return true;
}

bool Engine::watch(int fd, uint64_t key, uint32_t events, bool again) {
    epoll_event e{};
    e.events = events;
    e.data.u64 = key;
    return epoll_ctl(events_.get(), again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e) == 0;
}

void Engine::offer_stream(Known& peer) {
    if (peer.pass == 0 || peer.lost || peer.endpoint == nullptr) return;
    RAND_bytes(reinterpret_cast<unsigned char*>(&peer.token), sizeof peer.token);
    offer_.token = peer.token;
    Sending& s = take_sending();
    std::memcpy(s.header, &peer.pass, sizeof peer.pass);
    std::memcpy(s.header + sizeof peer.pass, &offer_, sizeof offer_);
    const ucp_request_param_t param = asking_for(s, UCP_AM_SEND_FLAG_EAGER);
    void* const request = ucp_am_send_nbx(peer.endpoint, wire::net_offer, nullptr, 0, s.header,
                                          sizeof peer.pass + sizeof offer_, &param);
    if (!UCS_PTR_IS_PTR(request)) give_back(s);
    if (UCS_PTR_IS_ERR(request)) lose(peer, ucs_status_string(UCS_PTR_STATUS(request)));
}

ucs_status_t Engine::on_offer(void* self, const void*, size_t, void* data, size_t length,
                              const ucp_am_recv_param_t* param) {
    Engine* const engine = with_data(self, param);
    if (engine == nullptr) return UCS_OK;
    std::span<const std::byte> bytes(static_cast<const std::byte*>(data), length);
    Peer from = 0;
    wire::StreamOffer offer{};
    if (!engine->is_from(bytes, from) || bytes.size() != sizeof offer) return UCS_OK;
    std::memcpy(&offer, bytes.data(), sizeof offer);
    // Gateways among themselves would both offer.
    if (!engine->frames_.offers) engine->take_offer(from, offer);
    return UCS_OK;
}

bool Engine::settled(Peer gateway) const {
    const Known& peer = peers_[gateway];
    return peer.pass != 0 && (!frames_.streams || peer.stream != nullptr || peer.offers_none);
}

void Engine::take_offer(Peer from, const wire::StreamOffer& offer) {
    close_stream(peers_[from]);
    peers_[from].offers_none = offer.port == 0;
    if (offer.port == 0) return;
    peers_[from].token = offer.token;
    os::Fd fd = new_socket();
    const sockaddr_in a = address_of(offer);
    if (!fd ||
        (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0 && errno != EINPROGRESS))
        return;
    add_newcomer(std::move(fd), from, true);
}

void Engine::add_newcomer(os::Fd fd, Peer peer, bool ours) {
    if (newcomers_.size() >= most_newcomers) newcomers_.erase(newcomers_.begin()); // the oldest
    const uint64_t number = next_newcomer_++;
    if (!watch(fd.get(), key_of(of_newcomer, number), ours ? EPOLLOUT : EPOLLIN)) return;
    Newcomer& n = newcomers_[number];
    n.fd = std::move(fd);
    n.peer = peer;
    n.ours = ours;
    n.until_ns = os::now_ns() + newcomer_ns;
    RAND_bytes(n.nonce.data(), static_cast<int>(n.nonce.size()));
}

// False: it is over, or has become a stream.
bool Engine::serve_newcomer(uint64_t number, Newcomer& n) {
    if (n.ours && !n.asked) {
        const std::string question = stream_greeting(wire::net_stream, peers_[n.peer], n.nonce);
        n.asked = ::send(n.fd.get(), question.data(), question.size(), MSG_NOSIGNAL) ==
                  static_cast<ssize_t>(question.size());
        return n.asked && watch(n.fd.get(), key_of(of_newcomer, number), EPOLLIN, true);
    }
    char bytes[sizeof(wire::Greeting)];
    const ssize_t got = recv(n.fd.get(), bytes, sizeof bytes - n.in.size(), 0);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    n.in.append(bytes, static_cast<size_t>(got));
    if (n.in.size() < sizeof bytes) return true;
    if (!take_stream_greeting(n)) ++strangers_;
    return false;
}

std::string Engine::stream_greeting(uint16_t kind, const Known& peer,
                                    std::span<const uint8_t, wire::nonce_bytes> nonce) const {
    wire::Greeting g{};
    g.kind = kind;
    g.from = world_rank_;
    g.to = peer.world_rank;
    g.pass = peer.token;
    std::memcpy(g.nonce, nonce.data(), sizeof g.nonce);
    return seal(g, {}, key_);
}

bool Engine::take_stream_greeting(Newcomer& n) {
    Opened opened;
    const uint16_t kind = n.ours ? wire::net_stream_answer : wire::net_stream;
    if (!unseal(std::as_bytes(std::span(n.in)), kind, world_rank_, key_, opened)) return false;
    const wire::Greeting& g = opened.greeting;
    const auto known = by_rank_.find(g.from);
    if (known == by_rank_.end()) return false;
    Known& peer = peers_[known->second];
    if (peer.token == 0 || peer.token != g.pass || peer.lost) return false;
    if (n.ours && (n.peer != known->second || std::memcmp(g.nonce, n.nonce.data(), sizeof g.nonce) != 0))
        return false;
    if (!n.ours) {
        const std::string answer = stream_greeting(wire::net_stream_answer, peer, g.nonce);
        if (::send(n.fd.get(), answer.data(), answer.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(answer.size()))
            return false;
    }
    peer.token = 0;
    begin_stream(peer, std::move(n.fd));
    return true;
}

void Engine::begin_stream(Known& peer, os::Fd fd) {
    close_stream(peer);
    const Peer index = by_rank_.at(peer.world_rank);
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!watch(fd.get(), key_of(of_stream, index), EPOLLIN, true)) return;
    peer.stream_end = {this, index};
    peer.stream = std::make_unique<Stream>(std::move(fd), rooms_of_streams_, stream_user(peer));
    ++streams_;
}

Stream::User Engine::stream_user(Known& peer) {
    Stream::User u{};
    u.subject = &peer.stream_end;
    if (frames_.place != nullptr)
        u.place = [](void* self, std::span<const std::byte> head, size_t bytes) {
            const Engine& e = *static_cast<StreamEnd*>(self)->engine;
            return e.frames_.place(e.sink_.subject, head, bytes);
        };
    u.frame = [](void* self, std::span<const std::byte> head, std::span<const std::byte> data, Room* room) {
        const StreamEnd& end = *static_cast<StreamEnd*>(self);
        Engine& e = *end.engine;
        ++e.happened_;
        void* const descriptor = room != nullptr ? room->bytes + room_mark : nullptr;
        return e.sink_.frame != nullptr &&
               e.sink_.frame(e.sink_.subject,
                             {end.peer, e.peers_[end.peer].world_rank, head, data, descriptor});
    };
    u.only_passes_on = frames_.offers; // that is what gateways do
    u.left = [](void* self, void* ticket) {
        Engine& e = *static_cast<StreamEnd*>(self)->engine;
        ++e.happened_;
        e.sink_.frame_left(e.sink_.subject, ticket);
    };
    return u;
}

void Engine::let_go(void* descriptor) {
    if (Room* const room = room_of(descriptor); room != nullptr)
        rooms_of_streams_.give(room);
    else
        ucp_am_data_release(worker_, descriptor);
}

Room* Engine::piped(void* descriptor) const { return piped_in(room_of(descriptor)); }

void Engine::withdraw(std::span<const std::byte> memory) {
    for (Known& peer : peers_)
        if (peer.stream != nullptr) peer.stream->withdraw(memory);
}

void Engine::close_stream(Known& peer) {
    peer.token = 0;
    if (peer.stream == nullptr) return;
    const Peer index = by_rank_.at(peer.world_rank);
    std::erase(writing_, index);
    std::erase(waiting_streams_, index);
    std::erase(broken_streams_, index);
    if (hot_ == static_cast<int>(index)) hot_ = -1;
    --streams_;
    const std::unique_ptr<Stream> closed = std::move(peer.stream); // gives up its frames when all is in order
}

// Frames on it may be lost. Who offered it does so again; who took it begins anew, over UCX.
void Engine::stream_is_over(Peer index) {
    Known& peer = peers_[index];
    ++happened_;
    close_stream(peer);
    if (frames_.offers)
        offer_stream(peer);
    else if (!peer.lost)
        tell_met(peer);
}

Posted Engine::send_by_stream(Peer index, std::span<const std::byte> head, std::span<const std::byte> data,
                              void* ticket, bool may_wait) {
    Known& to = peers_[index];
    Stream& stream = *to.stream;
    if (may_wait && waits(to, head.size() + data.size())) {
        if (stream.gathered() == 0) waiting_streams_.push_back(index);
        stream.gather(head, data);
        if (stream.gathered() < most_in_stream) return Posted::done;
        head = data = {};
        ticket = nullptr;
    }
    const Posted posted = stream.send(head, data, ticket);
    after_sending(index, posted != Posted::failed);
    return posted;
}

Posted Engine::send_piped(Peer index, std::span<const std::byte> head, std::span<const std::byte> data,
                          void* ticket, Room& room) {
    Known& to = peers_[index];
    if (to.lost || to.endpoint == nullptr || to.pass == 0 || to.stream == nullptr)
        return room.fetch(data.size()) ? send_frame(index, head, data, ticket, false) : Posted::failed;
    const Posted posted = to.stream->send(head, data, ticket, &room);
    after_sending(index, posted != Posted::failed);
    return posted; // not over UCX if it failed: part of the data is gone
}

void Engine::after_sending(Peer index, bool went) {
    if (!went)
        broken_streams_.push_back(index);
    else if (peers_[index].stream->has_out() && std::ranges::count(writing_, index) == 0)
        writing_.push_back(index);
}

void Engine::flush_streams() {
    while (!waiting_streams_.empty()) {
        const Peer index = waiting_streams_.back();
        waiting_streams_.pop_back();
        after_sending(index, peers_[index].stream->flush());
    }
}

void Engine::write_streams() {
    for (size_t i = 0; i < writing_.size();) {
        const Peer index = writing_[i];
        Stream& stream = *peers_[index].stream;
        if (!stream.write()) broken_streams_.push_back(index);
        if (stream.has_out())
            ++i;
        else
            std::erase(writing_, index);
    }
    while (!broken_streams_.empty()) {
        const Peer index = broken_streams_.back();
        broken_streams_.pop_back();
        if (peers_[index].stream != nullptr) stream_is_over(index);
    }
}

void Engine::watch_streams_out() {
    for (const Peer index : writing_) {
        Stream& stream = *peers_[index].stream;
        if (std::exchange(stream.watches_out, true)) continue;
        watch(stream.descriptor(), key_of(of_stream, index), EPOLLIN | EPOLLOUT, true);
    }
}

void Engine::read_stream(Peer index) {
    Stream* const stream = peers_[index].stream.get();
    if (stream == nullptr) return;
    const int came = stream->read();
    if (came < 0) return stream_is_over(index);
    if (came > 0) hot_ = static_cast<int>(index);
}

// Whether UCX has something.
bool Engine::look_around() {
    constexpr int at_once = 64;
    epoll_event events[at_once];
    bool ucx = false;
    const int n = epoll_wait(events_.get(), events, at_once, 0);
    for (int i = 0; i < n; ++i) {
        const uint64_t kind = events[i].data.u64 >> kind_shift;
        const uint64_t which = events[i].data.u64 & ((uint64_t{1} << kind_shift) - 1);
        if (kind == of_ucx) {
            ucx = true;
        } else if (kind == of_listener) {
            os::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
            if (fd) add_newcomer(std::move(fd), 0, false);
        } else if (kind == of_newcomer) {
            const auto found = newcomers_.find(which);
            if (found != newcomers_.end() && !serve_newcomer(which, found->second)) newcomers_.erase(which);
        } else if (Stream* const stream = peers_[which].stream.get(); stream != nullptr) {
            if (stream->watches_out && !stream->has_out()) {
                stream->watches_out = false;
                watch(stream->descriptor(), key_of(of_stream, which), EPOLLIN, true);
            }
            if (static_cast<int>(which) != hot_ && (events[i].events & ~EPOLLOUT) != 0)
                read_stream(static_cast<Peer>(which));
        }
    }
    if (!newcomers_.empty()) {
        const uint64_t now = os::now_ns();
        std::erase_if(newcomers_, [now](const auto& one) { return one.second.until_ns < now; });
    }
    return ucx;
}

// Whether UCX is to be looked at too. A look is a system call: what brought something last is looked at every
// time, all the rest now and then; a gateway comes here because something is there.
bool Engine::look_at_streams() {
    if (streams_ == 0 && newcomers_.empty() && !listener_) return true;
    write_streams();
    if (hot_ >= 0) read_stream(static_cast<Peer>(hot_));
    // What UCX was asked to do it may not finish by itself.
    bool ucx = hot_ < 0 || rdma_ || (touched_ && look_ % looks_apart_at_ucx == 0);
    if (look_ % looks_apart == 0 || (frames_.offers && happened_ == 0)) ucx = look_around() || ucx;
    return ucx;
}

} // namespace zipmpi::transport::ucx
