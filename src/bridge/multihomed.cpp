// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/multihomed.hpp"
#include "transport/ucx/ucx_module.hpp"

#include <algorithm>
#include <sys/epoll.h>

namespace zipmpi::bridge {

using transport::Arrival;
using transport::BufferRef;
using transport::FrameArrival;
using transport::IncomingBulk;
using transport::NetworkCallbacks;
using transport::OpStatus;

MultihomedNetwork::MultihomedNetwork(const transport::NetworkConfig& settings, const MultihomedConfig& plan)
    : callbacks_(settings.callbacks)
    , config_(plan)
    , epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

std::unique_ptr<MultihomedNetwork> MultihomedNetwork::open(const transport::NetworkConfig& settings,
                                                           const transport::FrameConfig& frames,
                                                           const MultihomedConfig& plan, std::string& why) {
    std::unique_ptr<MultihomedNetwork> made(new MultihomedNetwork(settings, plan));
    for (size_t i = 0; i < plan.devices.size(); ++i) {
        SubNetwork& sub = made->subnetworks_.emplace_back();
        sub.owner = made.get();
        sub.index = i;
        transport::NetworkConfig inner = settings;
        inner.devices = made->config_.devices[i].c_str();
        inner.callbacks = made->callbacks_for(sub);
        sub.network.reset(transport::ucx::open_for_frames(inner, frames, why));
        if (sub.network == nullptr) return nullptr;
        epoll_event event{};
        event.events = EPOLLIN;
        if (epoll_ctl(made->epoll_.get(), EPOLL_CTL_ADD, sub.network->descriptor(), &event) == 0) continue;
        why = "no file descriptor available for the networks of this host";
        return nullptr;
    }
    return made;
}

NetworkCallbacks MultihomedNetwork::callbacks_for(SubNetwork& sub) const {
    NetworkCallbacks s = callbacks_;
    s.subject = &sub;
    s.arrived = [](void* self, const Arrival& a) {
        auto& p = *static_cast<SubNetwork*>(self);
        const NetworkCallbacks& up = p.owner->callbacks_;
        up.arrived(up.subject, {p.owner->outer_peer(p, a.from), a.envelope, a.payload, a.bulk, a.bulk_bytes});
    };
    s.rts_arrived = [](void* self, const Arrival& a, IncomingBulk& bytes, uint64_t length) {
        auto& p = *static_cast<SubNetwork*>(self);
        const NetworkCallbacks& up = p.owner->callbacks_;
        p.owner->owners_.emplace(&bytes, p.index);
        up.rts_arrived(up.subject,
                       {p.owner->outer_peer(p, a.from), a.envelope, a.payload, a.bulk, a.bulk_bytes}, bytes,
                       length);
    };
    s.sent = [](void* self, void* operation, OpStatus outcome) {
        const NetworkCallbacks& up = static_cast<SubNetwork*>(self)->owner->callbacks_;
        up.sent(up.subject, operation, outcome);
    };
    s.fetched = [](void* self, void* operation, OpStatus outcome) {
        const NetworkCallbacks& up = static_cast<SubNetwork*>(self)->owner->callbacks_;
        up.fetched(up.subject, operation, outcome);
    };
    s.peer_failed = [](void* self, Peer peer, const char* why) {
        auto& p = *static_cast<SubNetwork*>(self);
        const NetworkCallbacks& up = p.owner->callbacks_;
        up.peer_failed(up.subject, p.owner->outer_peer(p, peer), why);
    };
    s.frame_arrived = [](void* self, const FrameArrival& f) {
        auto& p = *static_cast<SubNetwork*>(self);
        const NetworkCallbacks& up = p.owner->callbacks_;
        // Frame data is never kept: its owner could not be identified.
        static_cast<void>(
            up.frame_arrived(up.subject, {p.owner->outer_peer(p, f.from), f.id, f.head, f.data, nullptr}));
        return false;
    };
    s.frame_sent = [](void* self, void* ticket) {
        const NetworkCallbacks& up = static_cast<SubNetwork*>(self)->owner->callbacks_;
        up.frame_sent(up.subject, ticket);
    };
    s.peer_connected = [](void* self, Peer peer, int id) {
        auto& p = *static_cast<SubNetwork*>(self);
        const NetworkCallbacks& up = p.owner->callbacks_;
        up.peer_connected(up.subject, p.owner->outer_peer(p, peer), id);
    };
    return s;
}

Peer MultihomedNetwork::outer_peer(SubNetwork& sub, Peer inner) {
    if (sub.outer_peers.size() <= inner) sub.outer_peers.resize(inner + 1, -1);
    if (sub.outer_peers[inner] < 0) {
        sub.outer_peers[inner] = static_cast<int>(peers_.size());
        peers_.push_back({sub.index, inner});
    }
    return static_cast<Peer>(sub.outer_peers[inner]);
}

MultihomedNetwork::SubNetwork& MultihomedNetwork::subnetwork_of(int id) {
    return subnetworks_[static_cast<size_t>(config_.subnetwork_of(config_.subject, id))];
}

int MultihomedNetwork::connect_to(int id) {
    SubNetwork& sub = subnetwork_of(id);
    const int inner = sub.network->connect_to(id);
    return inner < 0 ? -1 : static_cast<int>(outer_peer(sub, static_cast<Peer>(inner)));
}

int MultihomedNetwork::rank_of(Peer peer) const { return network_of(peer).rank_of(peers_[peer].inner); }

void MultihomedNetwork::fail_peer(int id) { subnetwork_of(id).network->fail_peer(id); }

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

transport::Network& MultihomedNetwork::take_owner(const IncomingBulk& bytes) {
    const auto found = owners_.find(&bytes);
    const size_t sub = found != owners_.end() ? found->second : 0;
    if (found != owners_.end()) owners_.erase(found);
    return *subnetworks_[sub].network;
}

void MultihomedNetwork::fetch(IncomingBulk& bytes, const BufferRef& to) {
    take_owner(bytes).fetch(bytes, to);
}

void MultihomedNetwork::drop(IncomingBulk& bytes) { take_owner(bytes).drop(bytes); }

int MultihomedNetwork::progress() {
    int happened = 0;
    for (SubNetwork& sub : subnetworks_) happened += sub.network->progress();
    return happened;
}

bool MultihomedNetwork::arm() {
    return std::ranges::all_of(subnetworks_, [](SubNetwork& p) { return p.network->arm(); });
}

bool MultihomedNetwork::idle() const {
    return std::ranges::all_of(subnetworks_, [](const SubNetwork& p) { return p.network->idle(); });
}

bool MultihomedNetwork::has_pending_handshakes() const {
    return std::ranges::any_of(subnetworks_,
                               [](const SubNetwork& p) { return p.network->has_pending_handshakes(); });
}

uint64_t MultihomedNetwork::rejected_messages() const {
    uint64_t all = 0;
    for (const SubNetwork& sub : subnetworks_) all += sub.network->rejected_messages();
    return all;
}

PostStatus MultihomedNetwork::send_frame(Peer peer, std::span<const std::byte> head,
                                         std::span<const std::byte> data, void* ticket, bool may_wait) {
    return network_of(peer).send_frame(peers_[peer].inner, head, data, ticket, may_wait);
}

void MultihomedNetwork::flush_batches() {
    for (SubNetwork& sub : subnetworks_) sub.network->flush_batches();
}

bool MultihomedNetwork::has_batches() const {
    return std::ranges::any_of(subnetworks_, [](const SubNetwork& p) { return p.network->has_batches(); });
}

void MultihomedNetwork::reset_peer(Peer peer) { network_of(peer).reset_peer(peers_[peer].inner); }

bool MultihomedNetwork::path_ready(Peer gateway) const {
    return network_of(gateway).path_ready(peers_[gateway].inner);
}

void MultihomedNetwork::revoke_buffer(std::span<const std::byte> memory) {
    for (const SubNetwork& sub : subnetworks_) sub.network->revoke_buffer(memory);
}

} // namespace zipmpi::bridge
