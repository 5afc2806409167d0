// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/forwarder.hpp"

#include "bridge/network.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace zipmpi::gateway {
namespace {

constexpr size_t most_waiting = 4096; // frames for one that has not answered yet

// Credits are given back in parts of at least so much: each is a frame that wakes a rank.
uint64_t credit_at_once() {
    static const uint64_t bytes = std::max<uint64_t>(wire::frame_chunk, bridge::end_limits().lane_bytes / 4);
    return bytes;
}

void count_passed(LaneCounters& lane, uint64_t bytes) {
    add(lane.frames);
    add(lane.bytes, bytes);
}

bool crosses_as_message(const wire::Frame& f) { return f.type == wire::FrameType::message; }

} // namespace

Forwarder::Forwarder(Setting setting, Shown& shown)
    : setting_(std::move(setting))
    , shown_(shown)
    , counters_(shown.all)
    , routes_(setting_.grid) {}

bool Forwarder::open(int cluster, const std::string& devices, const transport::ucx::AddressBook& book,
                     std::string& why) {
    Attached& a = attached_.emplace_back();
    a.owner = this;
    a.index = static_cast<int>(attached_.size()) - 1;
    a.cluster = cluster;
    transport::ucx::Settings settings{bridge::gateway_id(setting_.job_size, setting_.number), setting_.key,
                                      devices.c_str()};
    settings.watch_peers = true;
    settings.gathers = true;
    settings.sink = sink_of(a);
    settings.book = book;
    const bool streams = bridge::frames_by_streams();
    a.network.reset(transport::ucx::open_for_frames(settings, {streams, streams, nullptr}, why));
    return a.network != nullptr;
}

const std::string& Forwarder::address(int cluster) const {
    static const std::string none;
    for (const Attached& a : attached_)
        if (a.cluster == cluster) return a.network->address();
    return none;
}

void Forwarder::greet_all() {
    for (Attached& a : attached_)
        for (int rank = 0; rank < setting_.job_size; ++rank) {
            const auto& clusters = setting_.grid.nodes[static_cast<size_t>(setting_.node_of(rank))].clusters;
            if (std::ranges::count(clusters, a.cluster) != 0) static_cast<void>(a.network->reach(rank));
        }
}

transport::ucx::Sink Forwarder::sink_of(Attached& a) const {
    transport::ucx::Sink s{};
    s.subject = &a;
    // Ranks do not send messages to gateways, only frames.
    s.arrived = [](void*, const transport::Arrival&) {};
    s.announced = [](void* self, const transport::Arrival&, transport::ucx::Arriving& bytes, uint64_t) {
        static_cast<Attached*>(self)->network->drop(bytes);
    };
    s.sent = [](void*, void*, transport::ucx::Outcome) {};
    s.received = [](void*, void*, transport::ucx::Outcome) {};
    s.lost = [](void* self, Peer peer, const char*) {
        static_cast<Attached*>(self)->to_forget.push_back(peer);
    };
    s.load = [](void*, uint64_t, std::byte*, size_t) {};
    s.store = [](void*, uint64_t, const std::byte*, size_t) {};
    s.pieces = [](void*, iovec*, size_t) -> size_t { return 0; };
    s.frame = [](void* self, const transport::ucx::FrameArrival& f) {
        auto& at = *static_cast<Attached*>(self);
        return at.owner->take(at.index, f.id, f.head, f.data, f.descriptor, at.network->piped(f.descriptor));
    };
    s.frame_left = [](void* self, void* ticket) {
        static_cast<Attached*>(self)->owner->left(static_cast<Transit*>(ticket));
    };
    s.met = [](void* self, Peer peer, int id) {
        auto& at = *static_cast<Attached*>(self);
        std::erase(at.to_forget, peer);
        at.owner->send_waiting(at, id);
        if (!at.owner->setting_.grid.gateways[static_cast<size_t>(at.owner->setting_.number)].links.empty())
            at.owner->tell_news(at, id);
    };
    return s;
}

bool Forwarder::take(int network, int from, std::span<const std::byte> head, std::span<const std::byte> data,
                     void* descriptor, transport::ucx::Room* piped) {
    wire::Frame frame{};
    const bool whole =
        head.size() >= sizeof frame &&
        bridge::read_frame(head, setting_.job, head.size() - sizeof frame + data.size(), frame);
    // A rank speaks for itself only; a gateway passes on what others say.
    if (!whole || (from < setting_.job_size && frame.from != from)) {
        add(counters_.refused);
        return false;
    }
    if (frame.type == wire::FrameType::beat) return answer_beat(network, from, frame);
    if (frame.type >= wire::FrameType::credit) return false;
    if (frame.to >= setting_.job_size || frame.hops == 0) {
        add(counters_.dropped);
        return false;
    }
    --frame.hops;
    bridge::close(frame);
    count(frame, head.size() + data.size());
    if (data.empty() && pass_short(network, from, frame, head)) return false;
    bool kept = false;
    Transit* const transit = make_transit(network, from, frame, head, data, descriptor, kept);
    transit->piped = piped;
    taking_ = transit;
    took_its_end_ = false;
    const bool passed = pass_on(transit, frame);
    if (!passed) {
        add(counters_.dropped);
        end(transit);
        if (network >= 0) tell_news(attached_[static_cast<size_t>(network)], from); // it does not know yet
    }
    taking_ = nullptr;
    return kept && !took_its_end_;
}

void Forwarder::count(const wire::Frame& frame, uint64_t bytes) {
    add(counters_.frames);
    add(counters_.bytes, bytes);
    if (crosses_as_message(frame))
        add(counters_.messages);
    else if (frame.type != wire::FrameType::chunk)
        add(counters_.control);
}

bool Forwarder::find_way(int network, int from, const wire::Frame& frame) {
    if (way_.next != nullptr && way_.network == network && way_.from == from && way_.to == frame.to)
        return true;
    way_ = {};
    const bridge::Hop* const hop = hop_of(frame);
    Attached* const next =
        hop != nullptr && hop->kind != bridge::Hop::Kind::link ? in_cluster(hop->cluster) : nullptr;
    const int peer = next != nullptr ? next->network->reach(id_at(*hop, frame)) : -1;
    if (peer < 0) return false;
    uint64_t* const owed = network >= 0 ? &attached_[static_cast<size_t>(network)].owed[from] : nullptr;
    way_ = {network, from, frame.to, next, static_cast<Peer>(peer), owed};
    return true;
}

// Most frames are short and leave at once: nothing is kept of them. False: not this one, or some wait
// already.
bool Forwarder::pass_short(int network, int from, const wire::Frame& frame,
                           std::span<const std::byte> bytes) {
    constexpr size_t longest = wire::frame_head_max + wire::frame_small;
    if (bytes.size() > longest || counters_.waiting.load(std::memory_order_relaxed) != 0 ||
        !find_way(network, from, frame))
        return false;
    std::byte copy[longest];
    std::memcpy(copy, bytes.data(), bytes.size());
    std::memcpy(copy, &frame, sizeof frame);
    Attached& next = *way_.next;
    if (next.network->send_frame(way_.peer, {copy, bytes.size()}, {}, nullptr, true) != Posted::done)
        return false;
    count_passed(shown_.network(next.index), bytes.size());
    if (way_.owed != nullptr)
        give_credit(attached_[static_cast<size_t>(network)], from, *way_.owed, bytes.size());
    return true;
}

// Frames of one flow keep together where nothing speaks against it.
const bridge::Hop* Forwarder::hop_of(const wire::Frame& frame) {
    auto known = hops_.find(frame.to);
    if (known == hops_.end()) {
        const auto& clusters = setting_.grid.nodes[static_cast<size_t>(setting_.node_of(frame.to))].clusters;
        known = hops_.emplace(frame.to, routes_.next(setting_.number, clusters)).first;
    }
    const std::vector<bridge::Hop>& hops = known->second;
    return hops.empty() ? nullptr : &hops[static_cast<size_t>(frame.from + frame.to) % hops.size()];
}

int Forwarder::id_at(const bridge::Hop& hop, const wire::Frame& frame) const {
    return hop.kind == bridge::Hop::Kind::rank ? frame.to
                                               : bridge::gateway_id(setting_.job_size, hop.gateway);
}

Transit* Forwarder::make_transit(int network, int from, const wire::Frame& frame,
                                 std::span<const std::byte> head, std::span<const std::byte> data,
                                 void* descriptor, bool& kept) {
    auto* const t = new Transit;
    t->network = network;
    t->from = from;
    t->bytes = head.size() + data.size();
    if (data.empty() && head.size() > wire::frame_head_max + wire::frame_small) { // in one part
        bridge::FrameView view;
        if (bridge::read_frame(head, {}, setting_.job, view)) {
            data = view.data;
            head = head.first(static_cast<size_t>(data.data() - head.data()));
        }
    }
    t->head.assign(head.begin(), head.end());
    std::memcpy(t->head.data(), &frame, sizeof frame);
    kept = descriptor != nullptr && !data.empty();
    if (kept) {
        t->descriptor = descriptor;
        t->data = data;
    } else if (!data.empty()) {
        t->copy.assign(data.begin(), data.end());
        t->data = t->copy;
    }
    add(counters_.held_bytes, t->bytes);
    const uint64_t held = counters_.held_bytes.load(std::memory_order_relaxed);
    if (held > counters_.most_held.load(std::memory_order_relaxed))
        counters_.most_held.store(held, std::memory_order_relaxed);
    return t;
}

bool Forwarder::pass_on(Transit* t, const wire::Frame& frame) {
    const bridge::Hop* const hop = hop_of(frame);
    if (hop == nullptr) return false;
    const uint64_t bytes = t->bytes;
    const auto count = [&](LaneCounters& lane, bool passed) {
        if (passed)
            count_passed(lane, bytes);
        else
            add(lane.lost);
        return passed;
    };
    if (hop->kind == bridge::Hop::Kind::link)
        return count(shown_.link(hop->link), send_over_link && send_over_link(hop->link, t));
    Attached* const to = in_cluster(hop->cluster);
    const int id = id_at(*hop, frame);
    return to != nullptr && count(shown_.network(to->index), send(*to, id, t));
}

bool Forwarder::send(Attached& to, int id, Transit* t) {
    const int peer = to.network->reach(id);
    if (peer < 0) return false;
    std::deque<Transit*>& waiting = to.waiting[id];
    const auto next = static_cast<Peer>(peer);
    const Posted posted = !waiting.empty()      ? Posted::would_block
                          : t->piped != nullptr ? to.network->send_piped(next, t->head, t->data, t, *t->piped)
                                                : to.network->send_frame(next, t->head, t->data, t);
    switch (posted) {
    case Posted::done:
        end(t);
        return true;
    case Posted::under_way:
        return true;
    case Posted::would_block:
        if (waiting.size() >= most_waiting) return false;
        waiting.push_back(t);
        add(counters_.waiting);
        add(shown_.network(to.index).queued);
        return true;
    case Posted::failed:
        break;
    }
    return false;
}

void Forwarder::send_waiting(Attached& to, int id) {
    std::deque<Transit*> waiting = std::move(to.waiting[id]);
    to.waiting[id].clear();
    take_off(counters_.waiting, waiting.size());
    take_off(shown_.network(to.index).queued, waiting.size());
    for (Transit* t : waiting) {
        if (send(to, id, t)) continue;
        add(counters_.dropped);
        add(shown_.network(to.index).lost);
        left(t);
    }
}

void Forwarder::left(Transit* t) { end(t); }

void Forwarder::end(Transit* t) {
    if (t == taking_)
        took_its_end_ = true;
    else if (t->descriptor != nullptr && t->network >= 0)
        attached_[static_cast<size_t>(t->network)].network->let_go(t->descriptor);
    else if (t->descriptor != nullptr)
        let_go_of_link(t->descriptor);
    take_off(counters_.held_bytes, t->bytes);
    give_credit(t->network, t->from, t->bytes);
    delete t;
}

void Forwarder::give_credit(int network, int to, uint64_t bytes) {
    if (network < 0) return; // over a link TCP says when there is room
    Attached& a = attached_[static_cast<size_t>(network)];
    give_credit(a, to, a.owed[to], bytes);
}

void Forwarder::give_credit(Attached& a, int to, uint64_t& owed, uint64_t bytes) {
    owed += bytes;
    if (owed < credit_at_once()) return;
    wire::Frame frame{};
    frame.type = wire::FrameType::credit;
    frame.length = owed;
    owed = 0;
    send_own(a, to, frame, {});
}

bool Forwarder::answer_beat(int network, int from, wire::Frame frame) {
    if (network < 0 || (frame.flags & wire::frame_answer) != 0) return false;
    frame.flags = wire::frame_answer;
    send_own(attached_[static_cast<size_t>(network)], from, frame, {});
    return false;
}

// What a gateway says itself is short and for those beside it.
void Forwarder::send_own(Attached& a, int id, wire::Frame frame, std::span<const std::byte> content) {
    const int peer = a.network->reach(id);
    if (peer < 0) return;
    std::byte bytes[sizeof frame + sizeof(wire::News)];
    frame.job = setting_.job;
    frame.from = bridge::gateway_id(setting_.job_size, setting_.number);
    frame.to = id;
    frame.bytes = static_cast<uint32_t>(content.size());
    bridge::close(frame);
    std::memcpy(bytes, &frame, sizeof frame);
    if (!content.empty()) std::memcpy(bytes + sizeof frame, content.data(), content.size());
    static_cast<void>(a.network->send_frame(static_cast<Peer>(peer), {bytes, sizeof frame + content.size()},
                                            {}, nullptr, true));
}

void Forwarder::link_changed(int gateway, bool up) {
    routes_.set_link_up(setting_.number, gateway, up);
    hops_.clear();
    way_ = {};
    for (Attached& a : attached_)
        for (int rank = 0; rank < setting_.job_size; ++rank) {
            const auto& clusters = setting_.grid.nodes[static_cast<size_t>(setting_.node_of(rank))].clusters;
            if (std::ranges::count(clusters, a.cluster) != 0) tell_news(a, rank);
        }
}

void Forwarder::tell_news(Attached& a, int id) {
    if (id >= setting_.job_size) return;
    for (int c = 0; c < static_cast<int>(setting_.grid.clusters.size()); ++c) {
        wire::Frame frame{};
        frame.type = wire::FrameType::news;
        const wire::News news{c, routes_.distance(setting_.number, std::span(&c, 1))};
        send_own(a, id, frame, std::as_bytes(std::span(&news, 1)));
    }
}

Forwarder::Attached* Forwarder::in_cluster(int cluster) {
    for (Attached& a : attached_)
        if (a.cluster == cluster) return &a;
    return nullptr;
}

int Forwarder::progress(bool all) {
    int happened = 0;
    uint64_t strangers = 0;
    for (Attached& a : attached_) {
        if (std::exchange(a.ready, false) || all) happened += a.network->progress();
        for (const Peer peer : std::exchange(a.to_forget, {})) {
            a.network->forget(peer);
            way_ = {}; // the next one says hello again
        }
        strangers += a.network->strangers();
    }
    for (Attached& a : attached_) a.network->send_waiting();
    counters_.strangers.store(strangers, std::memory_order_relaxed);
    return happened;
}

bool Forwarder::arm() {
    bool all = true;
    for (Attached& a : attached_) {
        if (a.to_forget.empty() && !a.network->has_waiting() && a.network->arm()) continue;
        a.ready = true;
        all = false;
    }
    return all;
}

std::vector<int> Forwarder::descriptors() const {
    std::vector<int> all;
    for (const Attached& a : attached_) all.push_back(a.network->descriptor());
    return all;
}

} // namespace zipmpi::gateway
