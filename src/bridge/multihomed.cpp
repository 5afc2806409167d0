// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/multihomed.hpp"

#include <algorithm>
#include <sys/epoll.h>

namespace zipmpi::bridge {

using transport::BufferRef;
using transport::IncomingBulk;

MultihomedNetwork::MultihomedNetwork(const MultihomedConfig& plan)
    : config_(plan)
    , epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

std::unique_ptr<MultihomedNetwork> MultihomedNetwork::open(const transport::NetworkConfig& settings,
                                                           const transport::FrameConfig& frames,
                                                           const MultihomedConfig& plan, std::string& why) {
    std::unique_ptr<MultihomedNetwork> made(new MultihomedNetwork(plan));
    for (size_t i = 0; i < plan.devices.size(); ++i) {
        SubNetwork& sub =
            made->subnetworks_.emplace_back(i, made->peers_, *settings.listener, *frames.listener);
        transport::NetworkConfig inner = settings;
        inner.devices = made->config_.devices[i].c_str();
        if (!sub.open(inner, frames, why)) return nullptr;
        epoll_event event{};
        event.events = EPOLLIN;
        if (epoll_ctl(made->epoll_.get(), EPOLL_CTL_ADD, sub.network().descriptor(), &event) == 0) continue;
        why = "no file descriptor available for the networks of this host";
        return nullptr;
    }
    return made;
}

int MultihomedNetwork::connect_to(int id) {
    SubNetwork& sub = subnetwork_of(id);
    const int inner = sub.network().connect_to(id);
    return inner < 0 ? -1 : static_cast<int>(sub.outer_peer(static_cast<Peer>(inner)));
}

int MultihomedNetwork::rank_of(Peer peer) const { return network_of(peer).rank_of(peers_[peer].inner); }

void MultihomedNetwork::fail_peer(int id) { subnetwork_of(id).network().fail_peer(id); }

uint64_t MultihomedNetwork::rendezvous_threshold(Peer peer) const {
    return network_of(peer).rendezvous_threshold(peers_[peer].inner);
}

PostStatus MultihomedNetwork::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                   const BufferRef& data) {
    return network_of(peer).send(peers_[peer].inner, envelope, payload, data);
}

PostStatus MultihomedNetwork::send_batched(Peer peer, const wire::Envelope& envelope,
                                           const std::byte* payload, const BufferRef& data) {
    return network_of(peer).send_batched(peers_[peer].inner, envelope, payload, data);
}

PostStatus MultihomedNetwork::send_rendezvous(Peer peer, const wire::Envelope& envelope,
                                              const std::byte* payload, const BufferRef& data) {
    return network_of(peer).send_rendezvous(peers_[peer].inner, envelope, payload, data);
}

void MultihomedNetwork::fetch(IncomingBulk& bytes, const BufferRef& to) {
    take_owner(bytes).fetch(bytes, to);
}

void MultihomedNetwork::drop(IncomingBulk& bytes) { take_owner(bytes).drop(bytes); }

int MultihomedNetwork::progress() {
    int happened = 0;
    for (SubNetwork& sub : subnetworks_) happened += sub.network().progress();
    return happened;
}

bool MultihomedNetwork::arm() {
    return std::ranges::all_of(subnetworks_, [](SubNetwork& p) { return p.network().arm(); });
}

bool MultihomedNetwork::idle() const {
    return std::ranges::all_of(subnetworks_, [](const SubNetwork& p) { return p.network().idle(); });
}

bool MultihomedNetwork::has_pending_handshakes() const {
    return std::ranges::any_of(subnetworks_,
                               [](const SubNetwork& p) { return p.network().has_pending_handshakes(); });
}

uint64_t MultihomedNetwork::rejected_messages() const {
    uint64_t all = 0;
    for (const SubNetwork& sub : subnetworks_) all += sub.network().rejected_messages();
    return all;
}

PostStatus MultihomedNetwork::send_frame(Peer peer, std::span<const std::byte> head,
                                         std::span<const std::byte> data, transport::FrameTicket* ticket,
                                         transport::Batching batching) {
    return network_of(peer).send_frame(peers_[peer].inner, head, data, ticket, batching);
}

void MultihomedNetwork::flush_batches() {
    for (SubNetwork& sub : subnetworks_) sub.network().flush_batches();
}

void MultihomedNetwork::announce_end() {
    for (SubNetwork& sub : subnetworks_) sub.network().announce_end();
}

bool MultihomedNetwork::has_batches() const {
    return std::ranges::any_of(subnetworks_, [](const SubNetwork& p) { return p.network().has_batches(); });
}

void MultihomedNetwork::reset_peer(Peer peer) { network_of(peer).reset_peer(peers_[peer].inner); }

bool MultihomedNetwork::path_ready(Peer gateway) const {
    return network_of(gateway).path_ready(peers_[gateway].inner);
}

void MultihomedNetwork::revoke_buffer(std::span<const std::byte> memory) {
    for (const SubNetwork& sub : subnetworks_) sub.network().revoke_buffer(memory);
}

} // namespace zipmpi::bridge
