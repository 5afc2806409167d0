// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interjob/interjob_network.hpp"

#include "transport/interjob/sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>

namespace zipmpi::interjob {

using transport::OpStatus;

namespace {

// Keys of descriptors that are not of connections.
constexpr uint64_t of_inner = UINT64_MAX;
constexpr uint64_t of_listener = uint64_t{1} << 62;
constexpr int max_eager_connections = 256; // connections made in advance

int external_of_rank(int external_rank) { return external_rank - first_external; }
int rank_of_external(int external) { return first_external + external; }

} // namespace

InterJobNetwork::InterJobNetwork(const InterJobConfig& settings)
    : listener_(*settings.listener)
    , peers_(settings.first_peer, settings.is_context_in_use)
    , writer_(table_, listener_)
    , setup_(settings.name, peers_, table_, writer_)
    , sender_(peers_, table_, setup_, writer_)
    , reader_({peers_, table_, setup_, sender_, transfers_, listener_})
    , sweeper_(peers_, table_, transfers_, listener_) {
    contact_info_.name = settings.name;
}

std::unique_ptr<InterJobNetwork> InterJobNetwork::open(const InterJobConfig& settings,
                                                       std::unique_ptr<transport::Network>& inner,
                                                       std::string& why) {
    std::unique_ptr<InterJobNetwork> made(new InterJobNetwork(settings));
    made->listening_ = listen_on_all(settings.devices, made->contact_info_);
    bool all = made->table_.descriptor() >= 0 && !made->listening_.empty();
    for (size_t i = 0; i < made->listening_.size(); ++i)
        all = made->table_.watch_descriptor(made->listening_[i].get(), of_listener | i) && all;
    if (inner != nullptr) all = made->table_.watch_descriptor(inner->descriptor(), of_inner) && all;
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
    const int external = peers_.add(contact, key);
    setup_.retry_parked();
    return rank_of_external(external);
}

ContactInfo InterJobNetwork::contact_info_of(int world_rank) const {
    return peers_.at(external_of_rank(world_rank)).contact;
}

ProcessName InterJobNetwork::name_of(int world_rank) const {
    if (is_external(world_rank)) return contact_info_of(world_rank).name;
    return {contact_info_.name.job, world_rank, 0};
}

// Both sides dial immediately, so that the failure of a process is detected even by peers that have not
// exchanged messages with it. Above max_eager_connections peers, connections are made on first use.
void InterJobNetwork::retain(int external_rank, uint32_t context) {
    const int external = external_of_rank(external_rank);
    const bool dials = peers_.add_reference(external, context) && peers_.count() <= max_eager_connections;
    if (dials) static_cast<void>(sender_.connection_to(external));
}

void InterJobNetwork::release(int external_rank, uint32_t context) {
    const int external = external_of_rank(external_rank);
    if (peers_.remove_reference(external, context)) sender_.send_bye(external);
}

bool InterJobNetwork::is_closing(int external_rank) const {
    const int external = external_of_rank(external_rank);
    const ExternalPeer& peer = peers_.at(external);
    return peer.references == 0 && !peer.failed && std::ranges::any_of(table_.all(), [&](const auto& one) {
               return setup_.is_of_peer(*one.second, external);
           });
}

const std::string& InterJobNetwork::address() const {
    return inner_ != nullptr ? inner_->address() : no_address_;
}

int InterJobNetwork::connect_to(int world_rank) {
    if (!is_external(world_rank)) return inner_ != nullptr ? inner_->connect_to(world_rank) : -1;
    const int external = external_of_rank(world_rank);
    if (external >= peers_.count() || peers_.at(external).failed) return -1;
    return static_cast<int>(peers_.peer_of(external));
}

int InterJobNetwork::rank_of(Peer peer) const {
    return peers_.is_external_peer(peer) ? rank_of_external(peers_.external_of(peer)) : inner_->rank_of(peer);
}

void InterJobNetwork::fail_peer(int world_rank) {
    if (is_external(world_rank))
        peers_.add_failure(external_of_rank(world_rank));
    else if (inner_ != nullptr)
        inner_->fail_peer(world_rank);
}

PostStatus InterJobNetwork::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                 const BufferRef& data) {
    if (!peers_.is_external_peer(peer)) return inner_->send(peer, envelope, payload, data);
    FrameHeader head;
    head.bytes = data.bytes;
    head.envelope = envelope;
    return sender_.post(peers_.external_of(peer), head, payload, data);
}

PostStatus InterJobNetwork::send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                         const BufferRef& data) {
    return peers_.is_external_peer(peer) ? send(peer, envelope, payload, data)
                                         : inner_->send_batched(peer, envelope, payload, data);
}

PostStatus InterJobNetwork::send_rendezvous(Peer peer, const wire::Envelope& envelope,
                                            const std::byte* payload, const BufferRef& data) {
    if (!peers_.is_external_peer(peer)) return inner_->send_rendezvous(peer, envelope, payload, data);
    const BulkKey key{peers_.external_of(peer), transfers_.new_number()};
    FrameHeader head;
    head.kind = FrameHeader::Kind::rts;
    head.number = key.number;
    head.bytes = data.bytes;
    head.envelope = envelope;
    if (sender_.post(key.external, head, payload, {}) == PostStatus::failed) return PostStatus::failed;
    transfers_.add_send(key, data);
    return PostStatus::in_flight;
}

void InterJobNetwork::fetch(IncomingBulk& bytes, const BufferRef& to) {
    const std::optional<BulkKey> key = transfers_.take_announced(bytes);
    if (!key) return inner_->fetch(bytes, to);
    transfers_.start_fetch(*key, to);
    if (sender_.post(key->external, FrameHeader::Kind::pull, key->number) != PostStatus::failed) return;
    listener_.fetch_finished(transfers_.end_fetch(*key), OpStatus::failed);
}

void InterJobNetwork::drop(IncomingBulk& bytes) {
    const std::optional<BulkKey> key = transfers_.take_announced(bytes);
    if (!key) return inner_->drop(bytes);
    static_cast<void>(sender_.post(key->external, FrameHeader::Kind::refuse, key->number));
}

uint64_t InterJobNetwork::rendezvous_threshold(Peer peer) const {
    return peers_.is_external_peer(peer) ? 0 : inner_->rendezvous_threshold(peer);
}

uint64_t InterJobNetwork::max_eager(Peer peer) const {
    return peers_.is_external_peer(peer) ? UINT64_MAX : inner_->max_eager(peer);
}

int InterJobNetwork::progress() {
    constexpr int at_once = 64;
    epoll_event events[at_once];
    const int inner_events = inner_ != nullptr ? inner_->progress() : 0;
    table_.reset_events();
    const int n = epoll_wait(table_.descriptor(), events, at_once, 0);
    for (int i = 0; i < n; ++i) {
        const uint64_t key = events[i].data.u64;
        if (key == of_inner) continue;
        if ((key & of_listener) != 0)
            setup_.accept_connection(listening_[key & ~of_listener].get());
        else if (Connection* const c = table_.find(key))
            handle_events(*c, events[i].events);
    }
    setup_.check_timeouts();
    sweeper_.sweep();
    return inner_events + table_.events();
}

void InterJobNetwork::handle_events(Connection& c, uint32_t events) {
    if (c.state == Connection::State::dialing) return setup_.on_connected(c);
    if ((events & EPOLLOUT) != 0 && c.is_open()) writer_.write_out(c);
    if (c.fd && (events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) reader_.read_in(c);
}

// No write is pending and all rendezvous data was fetched. During shutdown it also waits for the byes of all
// connected peers.
bool InterJobNetwork::idle() const {
    if (inner_ != nullptr && !inner_->idle()) return false;
    if (transfers_.has_sends() || table_.needs_sweep()) return false;
    return std::ranges::all_of(table_.all(), [this](const auto& one) {
        const Connection& c = *one.second;
        if (c.external < 0) return true; // unauthenticated
        return c.out.empty() && !sender_.is_shutting_down();
    });
}

void InterJobNetwork::set_shutting_down(bool yes) {
    if (inner_ != nullptr) inner_->set_shutting_down(yes);
    sender_.set_shutting_down(yes);
    for (int i = 0; yes && i < peers_.count(); ++i) sender_.send_bye(i);
    sweeper_.sweep();
}

uint64_t InterJobNetwork::rejected_messages() const {
    return reader_.rejected() + (inner_ != nullptr ? inner_->rejected_messages() : 0);
}

} // namespace zipmpi::interjob
