// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/joined.hpp"

#include <algorithm>
#include <sys/epoll.h>

namespace zipmpi::bridge {

using transport::Arrival;
using transport::ucx::Arriving;
using transport::ucx::FrameArrival;
using transport::ucx::Memory;
using transport::ucx::Outcome;
using transport::ucx::Sink;

JoinedNetwork::JoinedNetwork(const transport::ucx::Settings& settings, const Plan& plan)
    : sink_(settings.sink)
    , plan_(plan)
    , epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

std::unique_ptr<JoinedNetwork> JoinedNetwork::open(const transport::ucx::Settings& settings,
                                                   const transport::ucx::FrameSettings& frames,
                                                   const Plan& plan, std::string& why) {
    std::unique_ptr<JoinedNetwork> made(new JoinedNetwork(settings, plan));
    for (size_t i = 0; i < plan.devices.size(); ++i) {
        Part& part = made->parts_.emplace_back();
        part.owner = made.get();
        part.index = i;
        transport::ucx::Settings inner = settings;
        inner.devices = made->plan_.devices[i].c_str();
        inner.sink = made->sink_of(part);
        part.network.reset(transport::ucx::open_for_frames(inner, frames, why));
        if (part.network == nullptr) return nullptr;
        epoll_event event{};
        event.events = EPOLLIN;
        if (epoll_ctl(made->epoll_.get(), EPOLL_CTL_ADD, part.network->descriptor(), &event) == 0) continue;
        why = "no descriptor is left for the networks of this host";
        return nullptr;
    }
    return made;
}

Sink JoinedNetwork::sink_of(Part& part) const {
    Sink s = sink_;
    s.subject = &part;
    s.arrived = [](void* self, const Arrival& a) {
        auto& p = *static_cast<Part*>(self);
        const Sink& up = p.owner->sink_;
        up.arrived(up.subject, {p.owner->number(p, a.from), a.envelope, a.payload, a.bulk, a.bulk_bytes});
    };
    s.announced = [](void* self, const Arrival& a, Arriving& bytes, uint64_t length) {
        auto& p = *static_cast<Part*>(self);
        const Sink& up = p.owner->sink_;
        p.owner->arriving_.emplace(&bytes, p.index);
        up.announced(up.subject, {p.owner->number(p, a.from), a.envelope, a.payload, a.bulk, a.bulk_bytes},
                     bytes, length);
    };
    s.sent = [](void* self, void* operation, Outcome outcome) {
        const Sink& up = static_cast<Part*>(self)->owner->sink_;
        up.sent(up.subject, operation, outcome);
    };
    s.received = [](void* self, void* operation, Outcome outcome) {
        const Sink& up = static_cast<Part*>(self)->owner->sink_;
        up.received(up.subject, operation, outcome);
    };
    s.lost = [](void* self, Peer peer, const char* why) {
        auto& p = *static_cast<Part*>(self);
        const Sink& up = p.owner->sink_;
        up.lost(up.subject, p.owner->number(p, peer), why);
    };
    s.frame = [](void* self, const FrameArrival& f) {
        auto& p = *static_cast<Part*>(self);
        const Sink& up = p.owner->sink_;
        // Nobody here keeps the data of frames: it could not be told whose it is.
        static_cast<void>(up.frame(up.subject, {p.owner->number(p, f.from), f.id, f.head, f.data, nullptr}));
        return false;
    };
    s.frame_left = [](void* self, void* ticket) {
        const Sink& up = static_cast<Part*>(self)->owner->sink_;
        up.frame_left(up.subject, ticket);
    };
    s.met = [](void* self, Peer peer, int id) {
        auto& p = *static_cast<Part*>(self);
        const Sink& up = p.owner->sink_;
        up.met(up.subject, p.owner->number(p, peer), id);
    };
    return s;
}

Peer JoinedNetwork::number(Part& part, Peer inner) {
    if (part.numbers.size() <= inner) part.numbers.resize(inner + 1, -1);
    if (part.numbers[inner] < 0) {
        part.numbers[inner] = static_cast<int>(peers_.size());
        peers_.push_back({part.index, inner});
    }
    return static_cast<Peer>(part.numbers[inner]);
}

JoinedNetwork::Part& JoinedNetwork::part_of(int id) {
    return parts_[static_cast<size_t>(plan_.part_of(plan_.subject, id))];
}

int JoinedNetwork::reach(int id) {
    Part& part = part_of(id);
    const int inner = part.network->reach(id);
    return inner < 0 ? -1 : static_cast<int>(number(part, static_cast<Peer>(inner)));
}

int JoinedNetwork::rank_of(Peer peer) const { return network_of(peer).rank_of(peers_[peer].inner); }

void JoinedNetwork::give_up(int id) { part_of(id).network->give_up(id); }

uint64_t JoinedNetwork::rendezvous_from(Peer peer) const {
    return network_of(peer).rendezvous_from(peers_[peer].inner);
}

Posted JoinedNetwork::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                           const Memory& data) {
    return network_of(peer).send(peers_[peer].inner, envelope, payload, data);
}

Posted JoinedNetwork::send_soon(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                const Memory& data) {
    return network_of(peer).send_soon(peers_[peer].inner, envelope, payload, data);
}

Posted JoinedNetwork::send_long(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                const Memory& data) {
    return network_of(peer).send_long(peers_[peer].inner, envelope, payload, data);
}

transport::ucx::Network& JoinedNetwork::take_owner(const Arriving& bytes) {
    const auto found = arriving_.find(&bytes);
    const size_t part = found != arriving_.end() ? found->second : 0;
    if (found != arriving_.end()) arriving_.erase(found);
    return *parts_[part].network;
}

void JoinedNetwork::receive(Arriving& bytes, const Memory& to) { take_owner(bytes).receive(bytes, to); }

void JoinedNetwork::drop(Arriving& bytes) { take_owner(bytes).drop(bytes); }

int JoinedNetwork::progress() {
    int happened = 0;
    for (Part& part : parts_) happened += part.network->progress();
    return happened;
}

bool JoinedNetwork::arm() {
    return std::ranges::all_of(parts_, [](Part& p) { return p.network->arm(); });
}

bool JoinedNetwork::idle() const {
    return std::ranges::all_of(parts_, [](const Part& p) { return p.network->idle(); });
}

bool JoinedNetwork::meets() const {
    return std::ranges::any_of(parts_, [](const Part& p) { return p.network->meets(); });
}

uint64_t JoinedNetwork::strangers() const {
    uint64_t all = 0;
    for (const Part& part : parts_) all += part.network->strangers();
    return all;
}

Posted JoinedNetwork::send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                                 void* ticket, bool may_wait) {
    return network_of(peer).send_frame(peers_[peer].inner, head, data, ticket, may_wait);
}

void JoinedNetwork::send_waiting() {
    for (Part& part : parts_) part.network->send_waiting();
}

bool JoinedNetwork::has_waiting() const {
    return std::ranges::any_of(parts_, [](const Part& p) { return p.network->has_waiting(); });
}

void JoinedNetwork::forget(Peer peer) { network_of(peer).forget(peers_[peer].inner); }

bool JoinedNetwork::settled(Peer gateway) const { return network_of(gateway).settled(peers_[gateway].inner); }

void JoinedNetwork::withdraw(std::span<const std::byte> memory) {
    for (const Part& part : parts_) part.network->withdraw(memory);
}

} // namespace zipmpi::bridge
