// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Peers and sends.
#include "transport/interjob/interjob_network.hpp"

#include "os/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>

namespace zipmpi::interjob {

using transport::OpStatus;

namespace {

constexpr size_t buffer_bytes = 256U << 10;
constexpr uint64_t of_inner = UINT64_MAX;
constexpr uint64_t of_listener = uint64_t{1} << 62;
constexpr uint64_t clock_ns = 50'000'000;
constexpr size_t max_eager_connections = 256;         // connections made in advance
constexpr uint64_t reply_timeout_ns = 20'000'000'000; // for a reply, before another address is tried

bool add_to(int epoll, int fd, uint64_t key) {
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.u64 = key;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

} // namespace

InterJobNetwork::InterJobNetwork(const InterJobConfig& settings, std::unique_ptr<transport::Network> inner)
    : first_peer_(settings.first_peer)
    , callbacks_(settings.callbacks)
    , epoll_(epoll_create1(EPOLL_CLOEXEC))
    , read_buffer_(buffer_bytes)
    , pack_buffer_(buffer_bytes)
    , inner_(std::move(inner)) {
    contact_info_.name = settings.name;
}

std::unique_ptr<InterJobNetwork> InterJobNetwork::open(const InterJobConfig& settings,
                                                       std::unique_ptr<transport::Network>& inner,
                                                       std::string& why) {
    std::unique_ptr<InterJobNetwork> made(new InterJobNetwork(settings, nullptr));
    made->listeners_ = listen_on_all(settings.devices, made->contact_info_);
    bool all = static_cast<bool>(made->epoll_) && !made->listeners_.empty();
    for (size_t i = 0; i < made->listeners_.size(); ++i)
        all = add_to(made->epoll_.get(), made->listeners_[i].get(), of_listener | i) && all;
    if (inner != nullptr) all = add_to(made->epoll_.get(), inner->descriptor(), of_inner) && all;
    if (all) {
        made->inner_ = std::move(inner);
        return made;
    }
    why = std::string("no socket for connections from other jobs: ") + std::strerror(errno);
    return nullptr;
}

InterJobNetwork::~InterJobNetwork() = default;

int InterJobNetwork::add_peer(const ContactInfo& contact, const std::string& key) {
    if (contact.name.job == contact_info_.name.job) return contact.name.rank;
    keys_[key_id(key)] = key;
    const auto it = by_name_.find(contact.name);
    if (it != by_name_.end()) {
        ExternalPeer& f = external_peers_[static_cast<size_t>(it->second)];
        f.key = key;
        f.contact = contact;
        f.failed = false; // it has just communicated
        retry_parked();
        return rank_of_external(it->second);
    }
    const int index = static_cast<int>(external_peers_.size());
    by_name_.emplace(contact.name, index);
    ExternalPeer& f = external_peers_.emplace_back();
    f.contact = contact;
    f.key = key;
    retry_parked();
    return rank_of_external(index);
}

ContactInfo InterJobNetwork::contact_info_of(int world_rank) const {
    return external_peers_[static_cast<size_t>(world_rank - first_external)].contact;
}

ProcessName InterJobNetwork::name_of(int world_rank) const {
    if (is_external(world_rank)) return contact_info_of(world_rank).name;
    return {contact_info_.name.job, world_rank, 0};
}

// Both sides dial immediately, so that the failure of a process is detected even by peers that have not
// exchanged messages with it. Above max_eager_connections peers, connections are made on first use.
void InterJobNetwork::retain(int external_rank) {
    const int external = external_rank - first_external;
    ExternalPeer& f = external_peers_[static_cast<size_t>(external)];
    const bool dials = f.references++ == 0 && external_peers_.size() <= max_eager_connections;
    if (dials) static_cast<void>(connection_to(external));
}

void InterJobNetwork::release(int external_rank) {
    const int external = external_rank - first_external;
    ExternalPeer& f = external_peers_[static_cast<size_t>(external)];
    if (f.references > 0 && --f.references == 0) send_bye(external);
}

const std::string& InterJobNetwork::address() const {
    return inner_ != nullptr ? inner_->address() : no_address_;
}

int InterJobNetwork::connect_to(int world_rank) {
    if (!is_external(world_rank)) return inner_ != nullptr ? inner_->connect_to(world_rank) : -1;
    const auto index = static_cast<size_t>(world_rank - first_external);
    if (index >= external_peers_.size() || external_peers_[index].failed) return -1;
    return static_cast<int>(peer_of(static_cast<int>(index)));
}

int InterJobNetwork::rank_of(Peer peer) const {
    return is_external_peer(peer) ? rank_of_external(external_of(peer)) : inner_->rank_of(peer);
}

void InterJobNetwork::fail_peer(int world_rank) {
    if (!is_external(world_rank)) {
        if (inner_ != nullptr) inner_->fail_peer(world_rank);
    } else {
        newly_failed_.push_back(world_rank - first_external);
    }
}

// The connection for messages to a peer, created if there is none. Returns null if the peer has failed.
Connection* InterJobNetwork::connection_to(int external) {
    ExternalPeer& f = external_peers_[static_cast<size_t>(external)];
    if (f.failed) return nullptr;
    if (const auto c = connections_.find(f.connection); f.connection != 0 && c != connections_.end())
        return c->second.get();
    Connection& c = add_connection(os::Fd(), Connection::State::dialing);
    c.external = external;
    f.connection = c.number;
    if (!dial_next(c)) {
        newly_failed_.push_back(external);
        return nullptr;
    }
    return &c;
}

PostStatus InterJobNetwork::post(int external, const FrameHeader& head, const std::byte* payload,
                                 const BufferRef& data, bool notify) {
    Connection* const c = connection_to(external);
    if (c == nullptr) return PostStatus::failed;
    Connection::QueuedFrame& out = c->out.emplace_back();
    out.head.assign(reinterpret_cast<const char*>(&head), sizeof head);
    if (payload != nullptr && head.envelope.inline_bytes > 0)
        out.head.append(reinterpret_cast<const char*>(payload), head.envelope.inline_bytes);
    out.data = data;
    // Without data the send is complete when it is queued.
    out.notify = false;
    const bool keeps = data.bytes > 0;
    const bool first = c->out.size() == 1;
    if (c->is_open() && first) write_out(*c);
    if (!keeps || c->out.empty()) return PostStatus::done;
    c->out.back().notify = notify;
    return PostStatus::in_flight;
}

PostStatus InterJobNetwork::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                 const BufferRef& data) {
    if (!is_external_peer(peer)) return inner_->send(peer, envelope, payload, data);
    FrameHeader head;
    head.bytes = data.bytes;
    head.envelope = envelope;
    return post(external_of(peer), head, payload, data, true);
}

PostStatus InterJobNetwork::send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                         const BufferRef& data) {
    return is_external_peer(peer) ? send(peer, envelope, payload, data)
                                  : inner_->send_batched(peer, envelope, payload, data);
}

PostStatus InterJobNetwork::send_rendezvous(Peer peer, const wire::Envelope& envelope,
                                            const std::byte* payload, const BufferRef& data) {
    if (!is_external_peer(peer)) return inner_->send_rendezvous(peer, envelope, payload, data);
    FrameHeader head;
    head.kind = FrameHeader::Kind::rts;
    head.number = next_send_id_++;
    head.bytes = data.bytes;
    head.envelope = envelope;
    if (post(external_of(peer), head, payload, {}, false) == PostStatus::failed) return PostStatus::failed;
    pending_sends_.emplace(head.number, PendingBulkSend{external_of(peer), data});
    return PostStatus::in_flight;
}

void InterJobNetwork::fetch(IncomingBulk& bytes, const BufferRef& to) {
    const auto found = pending_recvs_.find(&bytes);
    if (found == pending_recvs_.end()) return inner_->fetch(bytes, to);
    const BulkKey key = found->second.key;
    pending_recvs_.erase(found);
    FrameHeader head;
    head.kind = FrameHeader::Kind::pull;
    head.number = key.number;
    fetching_.emplace(key, to);
    if (post(key.external, head, nullptr, {}, false) != PostStatus::failed) return;
    fetching_.erase(key);
    callbacks_.fetched(callbacks_.subject, to.operation, OpStatus::failed);
}

void InterJobNetwork::drop(IncomingBulk& bytes) {
    const auto found = pending_recvs_.find(&bytes);
    if (found == pending_recvs_.end()) return inner_->drop(bytes);
    FrameHeader head;
    head.kind = FrameHeader::Kind::refuse;
    head.number = found->second.key.number;
    const int external = found->second.key.external;
    pending_recvs_.erase(found);
    static_cast<void>(post(external, head, nullptr, {}, false));
}

uint64_t InterJobNetwork::rendezvous_threshold(Peer peer) const {
    return is_external_peer(peer) ? 0 : inner_->rendezvous_threshold(peer);
}

uint64_t InterJobNetwork::max_eager(Peer peer) const {
    return is_external_peer(peer) ? UINT64_MAX : inner_->max_eager(peer);
}

int InterJobNetwork::progress() {
    constexpr int at_once = 64;
    epoll_event events[at_once];
    events_ = inner_ != nullptr ? inner_->progress() : 0;
    const int n = epoll_wait(epoll_.get(), events, at_once, 0);
    for (int i = 0; i < n; ++i) {
        const uint64_t key = events[i].data.u64;
        if (key == of_inner) continue;
        if ((key & of_listener) != 0) {
            accept_connection(listeners_[key & ~of_listener].get());
            continue;
        }
        const auto found = connections_.find(key);
        if (found == connections_.end()) continue;
        Connection& c = *found->second;
        if (c.state == Connection::State::dialing) {
            on_connected(c);
            continue;
        }
        if ((events[i].events & EPOLLOUT) != 0 && c.is_open()) write_out(c);
        if (c.fd && (events[i].events & ~EPOLLOUT) != 0) read_in(c);
    }
    check_timeouts();
    sweep();
    return events_;
}

// No write is pending and all rendezvous data was fetched. During shutdown it also waits for the byes of all
// connected peers.
bool InterJobNetwork::idle() const {
    if (inner_ != nullptr && !inner_->idle()) return false;
    if (!pending_sends_.empty() || to_sweep_) return false;
    return std::ranges::all_of(connections_, [this](const auto& one) {
        const Connection& c = *one.second;
        if (c.external < 0) return true; // unauthenticated
        return c.out.empty() && !shutting_down_;
    });
}

void InterJobNetwork::set_shutting_down(bool yes) {
    if (inner_ != nullptr) inner_->set_shutting_down(yes);
    shutting_down_ = yes;
    for (int i = 0; yes && i < static_cast<int>(external_peers_.size()); ++i) send_bye(i);
    sweep();
}

uint64_t InterJobNetwork::rejected_messages() const {
    return rejected_messages_ + (inner_ != nullptr ? inner_->rejected_messages() : 0);
}

// Sends a bye on all connections to the peer. A later message opens a new one.
void InterJobNetwork::send_bye(int external) {
    FrameHeader bye;
    bye.kind = FrameHeader::Kind::bye;
    external_peers_[static_cast<size_t>(external)].connection = 0;
    for (const auto& [number, c] : connections_) {
        if (c->external != external || c->bye_sent) continue;
        if (!c->is_open() && c->out.empty()) { // unused: do not wait for its setup
            c->bye_received = c->broken = to_sweep_ = true;
            continue;
        }
        c->bye_sent = true;
        c->out.emplace_back().head.assign(reinterpret_cast<const char*>(&bye), sizeof bye);
        if (c->is_open() && c->out.size() == 1) write_out(*c);
        if (c->bye_received) to_sweep_ = true;
    }
}

// Nothing more arrives from the peer, and nothing can be sent to it.
void InterJobNetwork::fail(int external, const char* why) {
    ExternalPeer& f = external_peers_[static_cast<size_t>(external)];
    if (f.failed) return;
    f.failed = true;
    f.connection = 0;
    ++events_;
    std::vector<void*> unsent;
    for (auto c = connections_.begin(); c != connections_.end();) {
        if (c->second->external != external) {
            ++c;
            continue;
        }
        for (const Connection::QueuedFrame& out : c->second->out)
            if (out.notify) unsent.push_back(out.data.operation);
        c = connections_.erase(c);
    }
    for (auto a = pending_sends_.begin(); a != pending_sends_.end();) {
        if (a->second.external == external) unsent.push_back(a->second.data.operation);
        a = a->second.external == external ? pending_sends_.erase(a) : std::next(a);
    }
    std::vector<void*> unreceived;
    for (auto r = fetching_.begin(); r != fetching_.end();) {
        if (r->first.external == external) unreceived.push_back(r->second.operation);
        r = r->first.external == external ? fetching_.erase(r) : std::next(r);
    }
    for (void* const operation : unsent) callbacks_.sent(callbacks_.subject, operation, OpStatus::failed);
    for (void* const operation : unreceived)
        callbacks_.fetched(callbacks_.subject, operation, OpStatus::failed);
    if (f.references > 0) callbacks_.peer_failed(callbacks_.subject, peer_of(external), why);
}

void InterJobNetwork::sweep() {
    for (auto c = connections_.begin(); c != connections_.end();) {
        Connection& one = *c->second;
        const bool over = one.bye_sent && one.bye_received && one.out.empty();
        // Setup of an unused connection may fail because the other side has shut down normally; another open
        // connection to the peer decides.
        const bool unused = !one.is_open() && one.out.empty();
        const bool others = unused && std::ranges::any_of(connections_, [&one](const auto& other) {
                                return other.second->external == one.external && other.second->is_open();
                            });
        if (one.broken && one.external >= 0 && !one.bye_received && !others)
            newly_failed_.push_back(one.external);
        if (!over && !one.broken) {
            ++c;
            continue;
        }
        if (one.external >= 0 && external_peers_[static_cast<size_t>(one.external)].connection == one.number)
            external_peers_[static_cast<size_t>(one.external)].connection = 0;
        std::vector<void*> unsent;
        for (const Connection::QueuedFrame& out : one.out)
            if (out.notify) unsent.push_back(out.data.operation);
        ++events_;
        c = connections_.erase(c);
        for (void* const operation : unsent) callbacks_.sent(callbacks_.subject, operation, OpStatus::failed);
    }
    to_sweep_ = false;
    while (!newly_failed_.empty()) {
        const int external = newly_failed_.back();
        newly_failed_.pop_back();
        fail(external, "the connection ended or could not be made");
    }
}

void InterJobNetwork::check_timeouts() {
    const uint64_t now = os::now_ns();
    if (now - checked_ns_ < clock_ns) return;
    checked_ns_ = now;
    for (const auto& [number, c] : connections_) {
        if (c->is_open() || c->broken) continue;
        if (c->state == Connection::State::dialing && !c->fd) { // dial again
            c->broken = !dial_next(*c);
            continue;
        }
        if (c->deadline_ns > now) continue;
        if (c->state == Connection::State::hello_sent) { // it may be computing, or be another process
            c->deadline_ns = now + reply_timeout_ns;
            if (address_count(external_peers_[static_cast<size_t>(c->external)].contact) == 1) continue;
            c->attempts = 0;
        }
        const bool is_initiator =
            c->state == Connection::State::dialing || c->state == Connection::State::hello_sent;
        c->broken = !is_initiator || !try_next_address(*c);
    }
}

} // namespace zipmpi::interjob
