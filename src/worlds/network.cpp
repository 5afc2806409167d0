// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Who is known, and what is sent to them.
#include "worlds/network.hpp"

#include "os/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>

namespace zipmpi::worlds {

using transport::ucx::Outcome;

namespace {

constexpr size_t room_bytes = 256U << 10;
constexpr uint64_t of_inner = UINT64_MAX;
constexpr uint64_t of_listener = uint64_t{1} << 62;
constexpr uint64_t clock_ns = 50'000'000;
constexpr size_t most_at_once = 256;             // connections that are made before they are needed
constexpr uint64_t patience_ns = 20'000'000'000; // for an answer, before another way is tried

bool add_to(int epoll, int fd, uint64_t key) {
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.u64 = key;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

} // namespace

WorldsNetwork::WorldsNetwork(const Settings& settings, std::unique_ptr<transport::ucx::Network> inner)
    : first_peer_(settings.first_peer)
    , sink_(settings.sink)
    , epoll_(epoll_create1(EPOLL_CLOEXEC))
    , room_(room_bytes)
    , packing_(room_bytes)
    , inner_(std::move(inner)) {
    card_.name = settings.name;
}

std::unique_ptr<WorldsNetwork> WorldsNetwork::open(const Settings& settings,
                                                   std::unique_ptr<transport::ucx::Network>& inner,
                                                   std::string& why) {
    std::unique_ptr<WorldsNetwork> made(new WorldsNetwork(settings, nullptr));
    made->listeners_ = listen_everywhere(settings.devices, made->card_);
    bool all = static_cast<bool>(made->epoll_) && !made->listeners_.empty();
    for (size_t i = 0; i < made->listeners_.size(); ++i)
        all = add_to(made->epoll_.get(), made->listeners_[i].get(), of_listener | i) && all;
    if (inner != nullptr) all = add_to(made->epoll_.get(), inner->descriptor(), of_inner) && all;
    if (all) {
        made->inner_ = std::move(inner);
        return made;
    }
    why = std::string("no socket to be reached on by other programs: ") + std::strerror(errno);
    return nullptr;
}

WorldsNetwork::~WorldsNetwork() = default;

int WorldsNetwork::introduce(const Card& card, const std::string& key) {
    if (card.name.world == card_.name.world) return card.name.rank;
    keys_[number_of(key)] = key;
    const auto known = by_name_.find(card.name);
    if (known != by_name_.end()) {
        Foreign& f = foreign_[static_cast<size_t>(known->second)];
        f.key = key;
        f.card = card;
        f.lost = false; // it has just been spoken with
        look_at_parked();
        return rank_of_foreign(known->second);
    }
    const int index = static_cast<int>(foreign_.size());
    by_name_.emplace(card.name, index);
    Foreign& f = foreign_.emplace_back();
    f.card = card;
    f.key = key;
    look_at_parked();
    return rank_of_foreign(index);
}

Card WorldsNetwork::card_of(int world_rank) const {
    return foreign_[static_cast<size_t>(world_rank - first_foreign)].card;
}

Name WorldsNetwork::name_of(int world_rank) const {
    if (is_foreign(world_rank)) return card_of(world_rank).name;
    return {card_.name.world, world_rank, 0};
}

// Both dial at once, so that the end of a process is noticed by those who have not talked with it yet,
// however early it comes. With very many only those who talk are connected.
void WorldsNetwork::hold(int foreign_rank) {
    const int foreign = foreign_rank - first_foreign;
    Foreign& f = foreign_[static_cast<size_t>(foreign)];
    const bool dials = f.holders++ == 0 && foreign_.size() <= most_at_once;
    if (dials) static_cast<void>(way_out(foreign));
}

void WorldsNetwork::end_hold(int foreign_rank) {
    const int foreign = foreign_rank - first_foreign;
    Foreign& f = foreign_[static_cast<size_t>(foreign)];
    if (f.holders > 0 && --f.holders == 0) part_from(foreign);
}

const std::string& WorldsNetwork::address() const {
    return inner_ != nullptr ? inner_->address() : no_address_;
}

int WorldsNetwork::reach(int world_rank) {
    if (!is_foreign(world_rank)) return inner_ != nullptr ? inner_->reach(world_rank) : -1;
    const auto index = static_cast<size_t>(world_rank - first_foreign);
    if (index >= foreign_.size() || foreign_[index].lost) return -1;
    return static_cast<int>(peer_of(static_cast<int>(index)));
}

int WorldsNetwork::rank_of(Peer peer) const {
    return is_ours(peer) ? rank_of_foreign(foreign_of(peer)) : inner_->rank_of(peer);
}

void WorldsNetwork::give_up(int world_rank) {
    if (!is_foreign(world_rank)) {
        if (inner_ != nullptr) inner_->give_up(world_rank);
    } else {
        lost_now_.push_back(world_rank - first_foreign);
    }
}

// The connection that messages to it take, made if there is none. Null: it is lost.
Connection* WorldsNetwork::way_out(int foreign) {
    Foreign& f = foreign_[static_cast<size_t>(foreign)];
    if (f.lost) return nullptr;
    if (const auto c = connections_.find(f.out); f.out != 0 && c != connections_.end())
        return c->second.get();
    Connection& c = add_connection(os::Fd(), Connection::State::dialling);
    c.foreign = foreign;
    f.out = c.number;
    if (!dial_on(c)) {
        lost_now_.push_back(foreign);
        return nullptr;
    }
    return &c;
}

Posted WorldsNetwork::post(int foreign, const FrameHead& head, const std::byte* payload, const Memory& data,
                           bool tells) {
    Connection* const c = way_out(foreign);
    if (c == nullptr) return Posted::failed;
    Connection::Out& out = c->out.emplace_back();
    out.head.assign(reinterpret_cast<const char*>(&head), sizeof head);
    if (payload != nullptr && head.envelope.inline_bytes > 0)
        out.head.append(reinterpret_cast<const char*>(payload), head.envelope.inline_bytes);
    out.data = data;
    // Without data nothing of the caller's is kept: it is done as soon as it is queued.
    out.tells = false;
    const bool keeps = data.bytes > 0;
    const bool first = c->out.size() == 1;
    if (c->is_open() && first) write_out(*c);
    if (!keeps || c->out.empty()) return Posted::done;
    c->out.back().tells = tells;
    return Posted::under_way;
}

Posted WorldsNetwork::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                           const Memory& data) {
    if (!is_ours(peer)) return inner_->send(peer, envelope, payload, data);
    FrameHead head;
    head.bytes = data.bytes;
    head.envelope = envelope;
    return post(foreign_of(peer), head, payload, data, true);
}

Posted WorldsNetwork::send_soon(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                const Memory& data) {
    return is_ours(peer) ? send(peer, envelope, payload, data)
                         : inner_->send_soon(peer, envelope, payload, data);
}

Posted WorldsNetwork::send_long(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                const Memory& data) {
    if (!is_ours(peer)) return inner_->send_long(peer, envelope, payload, data);
    FrameHead head;
    head.kind = FrameHead::Kind::announce;
    head.number = next_announced_++;
    head.bytes = data.bytes;
    head.envelope = envelope;
    if (post(foreign_of(peer), head, payload, {}, false) == Posted::failed) return Posted::failed;
    announced_.emplace(head.number, Announced{foreign_of(peer), data});
    return Posted::under_way;
}

void WorldsNetwork::receive(Arriving& bytes, const Memory& to) {
    const auto found = arriving_.find(&bytes);
    if (found == arriving_.end()) return inner_->receive(bytes, to);
    const Place place = found->second.place;
    arriving_.erase(found);
    FrameHead head;
    head.kind = FrameHead::Kind::pull;
    head.number = place.number;
    receiving_.emplace(place, to);
    if (post(place.foreign, head, nullptr, {}, false) != Posted::failed) return;
    receiving_.erase(place);
    sink_.received(sink_.subject, to.operation, Outcome::failed);
}

void WorldsNetwork::drop(Arriving& bytes) {
    const auto found = arriving_.find(&bytes);
    if (found == arriving_.end()) return inner_->drop(bytes);
    FrameHead head;
    head.kind = FrameHead::Kind::refuse;
    head.number = found->second.place.number;
    const int foreign = found->second.place.foreign;
    arriving_.erase(found);
    static_cast<void>(post(foreign, head, nullptr, {}, false));
}

uint64_t WorldsNetwork::rendezvous_from(Peer peer) const {
    return is_ours(peer) ? 0 : inner_->rendezvous_from(peer);
}

uint64_t WorldsNetwork::longest_at_once(Peer peer) const {
    return is_ours(peer) ? UINT64_MAX : inner_->longest_at_once(peer);
}

int WorldsNetwork::progress() {
    constexpr int at_once = 64;
    epoll_event events[at_once];
    happened_ = inner_ != nullptr ? inner_->progress() : 0;
    const int n = epoll_wait(epoll_.get(), events, at_once, 0);
    for (int i = 0; i < n; ++i) {
        const uint64_t key = events[i].data.u64;
        if (key == of_inner) continue;
        if ((key & of_listener) != 0) {
            answer_callers(listeners_[key & ~of_listener].get());
            continue;
        }
        const auto found = connections_.find(key);
        if (found == connections_.end()) continue;
        Connection& c = *found->second;
        if (c.state == Connection::State::dialling) {
            connected(c);
            continue;
        }
        if ((events[i].events & EPOLLOUT) != 0 && c.is_open()) write_out(c);
        if (c.fd && (events[i].events & ~EPOLLOUT) != 0) read_in(c);
    }
    look_at_clock();
    sweep();
    return happened_;
}

// Nothing is written any more, and what was announced has been fetched. Who leaves also waits until those it
// has spoken with have said bye.
bool WorldsNetwork::idle() const {
    if (inner_ != nullptr && !inner_->idle()) return false;
    if (!announced_.empty() || to_sweep_) return false;
    return std::ranges::all_of(connections_, [this](const auto& one) {
        const Connection& c = *one.second;
        if (c.foreign < 0) return true; // a stranger so far
        return c.out.empty() && !leaving_;
    });
}

void WorldsNetwork::leaving(bool yes) {
    if (inner_ != nullptr) inner_->leaving(yes);
    leaving_ = yes;
    for (int i = 0; yes && i < static_cast<int>(foreign_.size()); ++i) part_from(i);
    sweep();
}

uint64_t WorldsNetwork::strangers() const {
    return strangers_ + (inner_ != nullptr ? inner_->strangers() : 0);
}

// Says bye on all connections with it. Should it be spoken with again, a new one is made.
void WorldsNetwork::part_from(int foreign) {
    FrameHead bye;
    bye.kind = FrameHead::Kind::bye;
    foreign_[static_cast<size_t>(foreign)].out = 0;
    for (const auto& [number, c] : connections_) {
        if (c->foreign != foreign || c->said_bye) continue;
        if (!c->is_open() && c->out.empty()) { // nobody has used it: no need to wait until it is there
            c->heard_bye = c->broken = to_sweep_ = true;
            continue;
        }
        c->said_bye = true;
        c->out.emplace_back().head.assign(reinterpret_cast<const char*>(&bye), sizeof bye);
        if (c->is_open() && c->out.size() == 1) write_out(*c);
        if (c->heard_bye) to_sweep_ = true;
    }
}

// Nothing comes from it any more, and nothing reaches it.
void WorldsNetwork::lose(int foreign, const char* why) {
    Foreign& f = foreign_[static_cast<size_t>(foreign)];
    if (f.lost) return;
    f.lost = true;
    f.out = 0;
    ++happened_;
    std::vector<void*> unsent;
    for (auto c = connections_.begin(); c != connections_.end();) {
        if (c->second->foreign != foreign) {
            ++c;
            continue;
        }
        for (const Connection::Out& out : c->second->out)
            if (out.tells) unsent.push_back(out.data.operation);
        c = connections_.erase(c);
    }
    for (auto a = announced_.begin(); a != announced_.end();) {
        if (a->second.foreign == foreign) unsent.push_back(a->second.data.operation);
        a = a->second.foreign == foreign ? announced_.erase(a) : std::next(a);
    }
    std::vector<void*> unreceived;
    for (auto r = receiving_.begin(); r != receiving_.end();) {
        if (r->first.foreign == foreign) unreceived.push_back(r->second.operation);
        r = r->first.foreign == foreign ? receiving_.erase(r) : std::next(r);
    }
    for (void* const operation : unsent) sink_.sent(sink_.subject, operation, Outcome::failed);
    for (void* const operation : unreceived) sink_.received(sink_.subject, operation, Outcome::failed);
    if (f.holders > 0) sink_.lost(sink_.subject, peer_of(foreign), why);
}

void WorldsNetwork::sweep() {
    for (auto c = connections_.begin(); c != connections_.end();) {
        Connection& one = *c->second;
        const bool over = one.said_bye && one.heard_bye && one.out.empty();
        // One that nobody has used yet may come to nothing because the other side has left in order: another
        // connection with it knows.
        const bool unused = !one.is_open() && one.out.empty();
        const bool others = unused && std::ranges::any_of(connections_, [&one](const auto& other) {
                                return other.second->foreign == one.foreign && other.second->is_open();
                            });
        if (one.broken && one.foreign >= 0 && !one.heard_bye && !others) lost_now_.push_back(one.foreign);
        if (!over && !one.broken) {
            ++c;
            continue;
        }
        if (one.foreign >= 0 && foreign_[static_cast<size_t>(one.foreign)].out == one.number)
            foreign_[static_cast<size_t>(one.foreign)].out = 0;
        std::vector<void*> unsent;
        for (const Connection::Out& out : one.out)
            if (out.tells) unsent.push_back(out.data.operation);
        ++happened_;
        c = connections_.erase(c);
        for (void* const operation : unsent) sink_.sent(sink_.subject, operation, Outcome::failed);
    }
    to_sweep_ = false;
    while (!lost_now_.empty()) {
        const int foreign = lost_now_.back();
        lost_now_.pop_back();
        lose(foreign, "the connection is over");
    }
}

void WorldsNetwork::look_at_clock() {
    const uint64_t now = os::now_ns();
    if (now - looked_ns_ < clock_ns) return;
    looked_ns_ = now;
    for (const auto& [number, c] : connections_) {
        if (c->is_open() || c->broken) continue;
        if (c->state == Connection::State::dialling && !c->fd) { // once more
            c->broken = !dial_on(*c);
            continue;
        }
        if (c->until_ns > now) continue;
        if (c->state == Connection::State::said_hello) { // it may be computing, or be somebody else
            c->until_ns = now + patience_ns;
            if (ways_to(foreign_[static_cast<size_t>(c->foreign)].card) == 1) continue;
            c->tries = 0;
        }
        const bool ours =
            c->state == Connection::State::dialling || c->state == Connection::State::said_hello;
        c->broken = !ours || !next_way(*c);
    }
}

} // namespace zipmpi::worlds
