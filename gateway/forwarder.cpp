// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/forwarder.hpp"

#include "bridge/multi_cluster_network.hpp"
#include "transport/ucx/ucx_module.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace zipmpi::gateway {
namespace {

constexpr size_t max_waiting = 4096; // frames for one peer without completed handshake

// Credits are returned in batches of at least this size: each is a frame that wakes a rank.
uint64_t credit_batch_bytes() {
    static const uint64_t bytes =
        std::max<uint64_t>(wire::frame_chunk, bridge::endpoint_limits().path_bytes / 4);
    return bytes;
}

void count_forwarded(PortCounters& port, uint64_t bytes) {
    add(port.frames);
    add(port.bytes, bytes);
}

bool is_message(const wire::Frame& f) { return f.type == wire::FrameType::message; }

} // namespace

Forwarder::Forwarder(GatewayConfig setting, GatewayStats& stats)
    : config_(std::move(setting))
    , stats_(stats)
    , counters_(stats.totals)
    , routes_(config_.cluster_map) {}

bool Forwarder::open(int cluster, const std::string& devices, const transport::AddressResolver& book,
                     std::string& why) {
    ClusterPort& a = ports_.emplace_back();
    a.owner = this;
    a.index = static_cast<int>(ports_.size()) - 1;
    a.cluster = cluster;
    transport::NetworkConfig settings{bridge::gateway_id(config_.job_size, config_.number), config_.key,
                                      devices.c_str()};
    settings.detect_failures = true;
    settings.batch_all_frames = true;
    settings.callbacks = callbacks_for(a);
    settings.resolver = book;
    const bool streams = bridge::uses_frame_streams();
    a.network.reset(transport::ucx::open_for_frames(settings, {streams, streams, nullptr}, why));
    return a.network != nullptr;
}

const std::string& Forwarder::address(int cluster) const {
    static const std::string none;
    for (const ClusterPort& a : ports_)
        if (a.cluster == cluster) return a.network->address();
    return none;
}

void Forwarder::connect_all() {
    for (ClusterPort& a : ports_)
        for (int rank = 0; rank < config_.job_size; ++rank) {
            const auto& clusters =
                config_.cluster_map.nodes[static_cast<size_t>(config_.node_of(rank))].clusters;
            if (std::ranges::count(clusters, a.cluster) != 0) static_cast<void>(a.network->connect_to(rank));
        }
}

transport::NetworkCallbacks Forwarder::callbacks_for(ClusterPort& a) const {
    transport::NetworkCallbacks s{};
    s.subject = &a;
    // Ranks send only frames to gateways, no messages.
    s.arrived = [](void*, const transport::Arrival&) {};
    s.rts_arrived = [](void* self, const transport::Arrival&, transport::IncomingBulk& bytes, uint64_t) {
        static_cast<ClusterPort*>(self)->network->drop(bytes);
    };
    s.sent = [](void*, void*, transport::OpStatus) {};
    s.fetched = [](void*, void*, transport::OpStatus) {};
    s.peer_failed = [](void* self, Peer peer, const char*) {
        static_cast<ClusterPort*>(self)->to_reset.push_back(peer);
    };
    s.pack = [](void*, uint64_t, std::byte*, size_t) {};
    s.unpack = [](void*, uint64_t, const std::byte*, size_t) {};
    s.list_iov = [](void*, iovec*, size_t) -> size_t { return 0; };
    s.frame_arrived = [](void* self, const transport::FrameArrival& f) {
        auto& at = *static_cast<ClusterPort*>(self);
        return at.owner->on_frame(at.index, f.id, f.head, f.data, f.descriptor,
                                  at.network->spliced(f.descriptor));
    };
    s.frame_sent = [](void* self, void* ticket) {
        static_cast<ClusterPort*>(self)->owner->on_frame_sent(static_cast<InTransitFrame*>(ticket));
    };
    s.peer_connected = [](void* self, Peer peer, int id) {
        auto& at = *static_cast<ClusterPort*>(self);
        std::erase(at.to_reset, peer);
        at.owner->send_queued(at, id);
        if (!at.owner->config_.cluster_map.gateways[static_cast<size_t>(at.owner->config_.number)]
                 .links.empty())
            at.owner->send_route_update(at, id);
    };
    return s;
}

bool Forwarder::on_frame(int network, int from, std::span<const std::byte> head,
                         std::span<const std::byte> data, void* descriptor,
                         transport::tcp::FrameBuffer* piped) {
    wire::Frame frame{};
    const bool whole = head.size() >= sizeof frame &&
                       bridge::read_frame(head, config_.job, head.size() - sizeof frame + data.size(), frame);
    // A rank may send only its own frames; a gateway forwards frames of others.
    if (!whole || (from < config_.job_size && frame.from != from)) {
        add(counters_.rejected);
        return false;
    }
    if (frame.type == wire::FrameType::heartbeat) return reply_heartbeat(network, from, frame);
    if (frame.type >= wire::FrameType::credit) return false;
    if (frame.to >= config_.job_size || frame.hops == 0) {
        add(counters_.dropped);
        return false;
    }
    --frame.hops;
    bridge::finalize(frame);
    count(frame, head.size() + data.size());
    if (data.empty() && forward_short(network, from, frame, head)) return false;
    bool kept = false;
    InTransitFrame* const transit = make_transit(network, from, frame, head, data, descriptor, kept);
    transit->spliced = piped;
    current_ = transit;
    current_finished_ = false;
    const bool passed = forward(transit, frame);
    if (!passed) {
        add(counters_.dropped);
        finish(transit);
        if (network >= 0)
            send_route_update(ports_[static_cast<size_t>(network)],
                              from); // it does not have the current routes yet
    }
    current_ = nullptr;
    return kept && !current_finished_;
}

void Forwarder::count(const wire::Frame& frame, uint64_t bytes) {
    add(counters_.frames);
    add(counters_.bytes, bytes);
    if (is_message(frame))
        add(counters_.messages);
    else if (frame.type != wire::FrameType::chunk)
        add(counters_.control);
}

bool Forwarder::find_route(int network, int from, const wire::Frame& frame) {
    if (cached_route_.next != nullptr && cached_route_.network == network && cached_route_.from == from &&
        cached_route_.to == frame.to)
        return true;
    cached_route_ = {};
    const bridge::Hop* const hop = hop_of(frame);
    ClusterPort* const next =
        hop != nullptr && hop->kind != bridge::Hop::Kind::link ? port_in(hop->cluster) : nullptr;
    const int peer = next != nullptr ? next->network->connect_to(id_at(*hop, frame)) : -1;
    if (peer < 0) return false;
    uint64_t* const credit_due =
        network >= 0 ? &ports_[static_cast<size_t>(network)].credit_due[from] : nullptr;
    cached_route_ = {network, from, frame.to, next, static_cast<Peer>(peer), credit_due};
    return true;
}

// Most frames are short and are sent immediately, without state. Returns false if this one is not, or others
// are queued before it.
bool Forwarder::forward_short(int network, int from, const wire::Frame& frame,
                              std::span<const std::byte> bytes) {
    constexpr size_t longest = wire::frame_head_max + wire::frame_small;
    if (bytes.size() > longest || counters_.waiting.load(std::memory_order_relaxed) != 0 ||
        !find_route(network, from, frame))
        return false;
    std::byte copy[longest];
    std::memcpy(copy, bytes.data(), bytes.size());
    std::memcpy(copy, &frame, sizeof frame);
    ClusterPort& next = *cached_route_.next;
    if (next.network->send_frame(cached_route_.peer, {copy, bytes.size()}, {}, nullptr, true) !=
        PostStatus::done)
        return false;
    count_forwarded(stats_.network(next.index), bytes.size());
    if (cached_route_.credit_due != nullptr)
        grant_credit(ports_[static_cast<size_t>(network)], from, *cached_route_.credit_due, bytes.size());
    return true;
}

// Frames of one flow take the same hop where possible.
const bridge::Hop* Forwarder::hop_of(const wire::Frame& frame) {
    auto it = hops_.find(frame.to);
    if (it == hops_.end()) {
        const auto& clusters =
            config_.cluster_map.nodes[static_cast<size_t>(config_.node_of(frame.to))].clusters;
        it = hops_.emplace(frame.to, routes_.next_hops(config_.number, clusters)).first;
    }
    const std::vector<bridge::Hop>& hops = it->second;
    return hops.empty() ? nullptr : &hops[static_cast<size_t>(frame.from + frame.to) % hops.size()];
}

int Forwarder::id_at(const bridge::Hop& hop, const wire::Frame& frame) const {
    return hop.kind == bridge::Hop::Kind::rank ? frame.to : bridge::gateway_id(config_.job_size, hop.gateway);
}

InTransitFrame* Forwarder::make_transit(int network, int from, const wire::Frame& frame,
                                        std::span<const std::byte> head, std::span<const std::byte> data,
                                        void* descriptor, bool& kept) {
    auto* const t = new InTransitFrame;
    t->network = network;
    t->from = from;
    t->bytes = head.size() + data.size();
    if (data.empty() && head.size() > wire::frame_head_max + wire::frame_small) { // in one part
        bridge::FrameView view;
        if (bridge::read_frame(head, {}, config_.job, view)) {
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
    add(counters_.buffered_bytes, t->bytes);
    const uint64_t buffered = counters_.buffered_bytes.load(std::memory_order_relaxed);
    if (buffered > counters_.max_buffered_bytes.load(std::memory_order_relaxed))
        counters_.max_buffered_bytes.store(buffered, std::memory_order_relaxed);
    return t;
}

bool Forwarder::forward(InTransitFrame* t, const wire::Frame& frame) {
    const bridge::Hop* const hop = hop_of(frame);
    if (hop == nullptr) return false;
    const uint64_t bytes = t->bytes;
    const auto count = [&](PortCounters& port, bool passed) {
        if (passed)
            count_forwarded(port, bytes);
        else
            add(port.dropped);
        return passed;
    };
    if (hop->kind == bridge::Hop::Kind::link)
        return count(stats_.link(hop->link), send_over_link && send_over_link(hop->link, t));
    ClusterPort* const to = port_in(hop->cluster);
    const int id = id_at(*hop, frame);
    return to != nullptr && count(stats_.network(to->index), send(*to, id, t));
}

bool Forwarder::send(ClusterPort& to, int id, InTransitFrame* t) {
    const int peer = to.network->connect_to(id);
    if (peer < 0) return false;
    std::deque<InTransitFrame*>& waiting = to.waiting[id];
    const auto next = static_cast<Peer>(peer);
    const PostStatus posted = !waiting.empty() ? PostStatus::would_block
                              : t->spliced != nullptr
                                  ? to.network->send_spliced(next, t->head, t->data, t, *t->spliced)
                                  : to.network->send_frame(next, t->head, t->data, t);
    switch (posted) {
    case PostStatus::done:
        finish(t);
        return true;
    case PostStatus::in_flight:
        return true;
    case PostStatus::would_block:
        if (waiting.size() >= max_waiting) return false;
        waiting.push_back(t);
        add(counters_.waiting);
        add(stats_.network(to.index).queued);
        return true;
    case PostStatus::failed:
        break;
    }
    return false;
}

void Forwarder::send_queued(ClusterPort& to, int id) {
    std::deque<InTransitFrame*> waiting = std::move(to.waiting[id]);
    to.waiting[id].clear();
    subtract(counters_.waiting, waiting.size());
    subtract(stats_.network(to.index).queued, waiting.size());
    for (InTransitFrame* t : waiting) {
        if (send(to, id, t)) continue;
        add(counters_.dropped);
        add(stats_.network(to.index).dropped);
        on_frame_sent(t);
    }
}

void Forwarder::on_frame_sent(InTransitFrame* t) { finish(t); }

void Forwarder::finish(InTransitFrame* t) {
    if (t == current_)
        current_finished_ = true;
    else if (t->descriptor != nullptr && t->network >= 0)
        ports_[static_cast<size_t>(t->network)].network->release_frame(t->descriptor);
    else if (t->descriptor != nullptr)
        release_link_buffer(t->descriptor);
    subtract(counters_.buffered_bytes, t->bytes);
    grant_credit(t->network, t->from, t->bytes);
    delete t;
}

void Forwarder::grant_credit(int network, int to, uint64_t bytes) {
    if (network < 0) return; // links use TCP flow control
    ClusterPort& a = ports_[static_cast<size_t>(network)];
    grant_credit(a, to, a.credit_due[to], bytes);
}

void Forwarder::grant_credit(ClusterPort& a, int to, uint64_t& credit_due, uint64_t bytes) {
    credit_due += bytes;
    if (credit_due < credit_batch_bytes()) return;
    wire::Frame frame{};
    frame.type = wire::FrameType::credit;
    frame.length = credit_due;
    credit_due = 0;
    send_control(a, to, frame, {});
}

bool Forwarder::reply_heartbeat(int network, int from, wire::Frame frame) {
    if (network < 0 || (frame.flags & wire::frame_reply) != 0) return false;
    frame.flags = wire::frame_reply;
    send_control(ports_[static_cast<size_t>(network)], from, frame, {});
    return false;
}

// Control frames are short and go to adjacent processes only.
void Forwarder::send_control(ClusterPort& a, int id, wire::Frame frame, std::span<const std::byte> content) {
    const int peer = a.network->connect_to(id);
    if (peer < 0) return;
    std::byte bytes[sizeof frame + sizeof(wire::RouteUpdate)];
    frame.job = config_.job;
    frame.from = bridge::gateway_id(config_.job_size, config_.number);
    frame.to = id;
    frame.bytes = static_cast<uint32_t>(content.size());
    bridge::finalize(frame);
    std::memcpy(bytes, &frame, sizeof frame);
    if (!content.empty()) std::memcpy(bytes + sizeof frame, content.data(), content.size());
    static_cast<void>(a.network->send_frame(static_cast<Peer>(peer), {bytes, sizeof frame + content.size()},
                                            {}, nullptr, true));
}

void Forwarder::on_link_change(int gateway, bool up) {
    routes_.set_link_up(config_.number, gateway, up);
    hops_.clear();
    cached_route_ = {};
    for (ClusterPort& a : ports_)
        for (int rank = 0; rank < config_.job_size; ++rank) {
            const auto& clusters =
                config_.cluster_map.nodes[static_cast<size_t>(config_.node_of(rank))].clusters;
            if (std::ranges::count(clusters, a.cluster) != 0) send_route_update(a, rank);
        }
}

void Forwarder::send_route_update(ClusterPort& a, int id) {
    if (id >= config_.job_size) return;
    for (int c = 0; c < static_cast<int>(config_.cluster_map.clusters.size()); ++c) {
        wire::Frame frame{};
        frame.type = wire::FrameType::route_update;
        const wire::RouteUpdate update{c, routes_.distance(config_.number, std::span(&c, 1))};
        send_control(a, id, frame, std::as_bytes(std::span(&update, 1)));
    }
}

Forwarder::ClusterPort* Forwarder::port_in(int cluster) {
    for (ClusterPort& a : ports_)
        if (a.cluster == cluster) return &a;
    return nullptr;
}

int Forwarder::progress(bool all) {
    int happened = 0;
    uint64_t rejected = 0;
    for (ClusterPort& a : ports_) {
        if (std::exchange(a.ready, false) || all) happened += a.network->progress();
        for (const Peer peer : std::exchange(a.to_reset, {})) {
            a.network->reset_peer(peer);
            cached_route_ = {}; // the next frame connects again
        }
        rejected += a.network->rejected_messages();
    }
    for (ClusterPort& a : ports_) a.network->flush_batches();
    counters_.rejected_messages.store(rejected, std::memory_order_relaxed);
    return happened;
}

bool Forwarder::arm() {
    bool all = true;
    for (ClusterPort& a : ports_) {
        if (a.to_reset.empty() && !a.network->has_batches() && a.network->arm()) continue;
        a.ready = true;
        all = false;
    }
    return all;
}

std::vector<int> Forwarder::descriptors() const {
    std::vector<int> all;
    for (const ClusterPort& a : ports_) all.push_back(a.network->descriptor());
    return all;
}

} // namespace zipmpi::gateway
