// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interjob/interjob_network.hpp"

#include "transport/stream/sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace zipmpi::interjob {

namespace {

using transport::stream::Timing;

constexpr int max_eager_connections = 256; // connections made in advance

int external_of_rank(int external_rank) { return external_rank - first_external; }
int rank_of_external(int external) { return first_external + external; }

} // namespace

InterJobNetwork::InterJobNetwork(const InterJobConfig& settings)
    : peers_(settings.name, settings.first_peer, settings.is_context_in_use)
    , streams_({settings.name, *settings.listener}, peers_) {
    contact_info_.name = settings.name;
}

std::unique_ptr<InterJobNetwork> InterJobNetwork::open(const InterJobConfig& settings,
                                                       std::unique_ptr<transport::Network>& inner,
                                                       std::string& why) {
    std::unique_ptr<InterJobNetwork> made(new InterJobNetwork(settings));
    bool all = made->streams_.listen(transport::stream::listen_on_all(settings.devices, made->contact_info_));
    if (inner != nullptr) all = made->streams_.watch(inner->descriptor()) && all;
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
    streams_.setup().retry_parked();
    return rank_of_external(external);
}

ContactInfo InterJobNetwork::contact_info_of(int world_rank) const {
    return peers_.contact_of(external_of_rank(world_rank));
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
    if (dials) static_cast<void>(streams_.sender().connection_to(external));
}

void InterJobNetwork::release(int external_rank, uint32_t context) {
    const int external = external_of_rank(external_rank);
    if (peers_.remove_reference(external, context)) streams_.sender().send_bye(external);
}

bool InterJobNetwork::is_closing(int external_rank) const {
    const int external = external_of_rank(external_rank);
    return peers_.references_of(external) == 0 && !peers_.link(external).failed &&
           std::ranges::any_of(streams_.table().all(), [&](const auto& one) {
               return streams_.setup().peer_of(*one.second) == external;
           });
}

const std::string& InterJobNetwork::address() const {
    return inner_ != nullptr ? inner_->address() : no_address_;
}

int InterJobNetwork::connect_to(int world_rank) {
    if (!is_external(world_rank)) return inner_ != nullptr ? inner_->connect_to(world_rank) : -1;
    const int external = external_of_rank(world_rank);
    if (external >= peers_.count() || peers_.link(external).failed) return -1;
    return static_cast<int>(peers_.peer_of(external));
}

int InterJobNetwork::rank_of(Peer peer) const {
    return peers_.is_member(peer) ? rank_of_external(peers_.number_of(peer)) : inner_->rank_of(peer);
}

void InterJobNetwork::fail_peer(int world_rank) {
    if (is_external(world_rank))
        streams_.fail_peer(external_of_rank(world_rank));
    else if (inner_ != nullptr)
        inner_->fail_peer(world_rank);
}

PostStatus InterJobNetwork::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                 const BufferRef& data) {
    return peers_.is_member(peer)
               ? streams_.send(peers_.number_of(peer), envelope, payload, data, Timing::now)
               : inner_->send(peer, envelope, payload, data);
}

PostStatus InterJobNetwork::send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                         const BufferRef& data) {
    return peers_.is_member(peer)
               ? streams_.send(peers_.number_of(peer), envelope, payload, data, Timing::may_wait)
               : inner_->send_batched(peer, envelope, payload, data);
}

PostStatus InterJobNetwork::send_rendezvous(Peer peer, const wire::Envelope& envelope,
                                            const std::byte* payload, const BufferRef& data) {
    return peers_.is_member(peer) ? streams_.send_rendezvous(peers_.number_of(peer), envelope, payload, data)
                                  : inner_->send_rendezvous(peer, envelope, payload, data);
}

void InterJobNetwork::fetch(IncomingBulk& bytes, const BufferRef& to) {
    if (!streams_.fetch(bytes, to)) inner_->fetch(bytes, to);
}

void InterJobNetwork::drop(IncomingBulk& bytes) {
    if (!streams_.drop(bytes)) inner_->drop(bytes);
}

uint64_t InterJobNetwork::rendezvous_threshold(Peer peer) const {
    return peers_.is_member(peer) ? 0 : inner_->rendezvous_threshold(peer);
}

uint64_t InterJobNetwork::max_eager(Peer peer) const {
    return peers_.is_member(peer) ? UINT64_MAX : inner_->max_eager(peer);
}

int InterJobNetwork::progress() {
    const int inner_events = inner_ != nullptr ? inner_->progress() : 0;
    return inner_events + streams_.progress();
}

bool InterJobNetwork::arm() {
    const bool quiet = streams_.arm();
    return (inner_ == nullptr || inner_->arm()) && quiet;
}

// During shutdown it also waits for the byes of all connected peers.
bool InterJobNetwork::idle() const {
    if ((inner_ != nullptr && !inner_->idle()) || !streams_.idle()) return false;
    return !streams_.sender().is_shutting_down() ||
           std::ranges::all_of(streams_.table().all(), [](const auto& one) { return one.second->peer < 0; });
}

void InterJobNetwork::set_shutting_down(bool yes) {
    if (inner_ != nullptr) inner_->set_shutting_down(yes);
    streams_.sender().set_shutting_down(yes);
    for (int i = 0; yes && i < peers_.count(); ++i) streams_.sender().send_bye(i);
    streams_.sweep();
}

uint64_t InterJobNetwork::rejected_messages() const {
    return streams_.rejected() + (inner_ != nullptr ? inner_->rejected_messages() : 0);
}

} // namespace zipmpi::interjob
