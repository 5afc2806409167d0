// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/forwarder.hpp"

#include "bridge/frame.hpp"
#include "bridge/gateway_settings.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace zipmpi::gateway {
namespace {

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
    , hops_(config_) {}

bool Forwarder::open(int cluster, const std::string& devices, transport::AddressResolver& book,
                     std::string& why) {
    const int id = config_.id_of(config_.number);
    ClusterPort& port = ports_.emplace_back(static_cast<int>(ports_.size()), cluster,
                                            ClusterPort::Sender{id, config_.job}, stats_);
    PortEvents& events = events_.emplace_back(*this, port);
    transport::NetworkConfig settings{
        id, {config_.hop_key, config_.hop_key, config_.job_size}, devices.c_str()};
    settings.detect_failures = true;
    settings.batch_all_frames = true;
    settings.listener = &events;
    settings.resolver = &book;
    const bool streams = bridge::uses_frame_streams();
    return port.open(settings, {&events, streams, streams}, why);
}

const std::string& Forwarder::address(int cluster) const {
    static const std::string none;
    for (const ClusterPort& port : ports_)
        if (port.cluster() == cluster) return port.network().address();
    return none;
}

void Forwarder::connect_all() {
    for (ClusterPort& port : ports_)
        for (int rank = 0; rank < config_.job_size; ++rank)
            if (std::ranges::count(config_.clusters_of(rank), port.cluster()) != 0)
                static_cast<void>(port.network().connect_to(rank));
}

bool Forwarder::on_frame(const IncomingFrame& incoming) {
    const std::span<const std::byte> head = incoming.head;
    wire::Frame frame{};
    const bool whole =
        head.size() >= sizeof frame &&
        bridge::read_frame(head, config_.job, head.size() - sizeof frame + incoming.data.size(), frame);
    // A rank may send only its own frames; a gateway forwards frames of others.
    if (!whole || (incoming.from < config_.job_size && frame.from != incoming.from)) {
        add(counters_.rejected);
        return false;
    }
    if (frame.type == wire::FrameType::heartbeat) return reply_heartbeat(incoming, frame);
    if (frame.type >= wire::FrameType::credit) return false;
    if (frame.from >= config_.job_size || frame.to >= config_.job_size || frame.hops == 0) {
        add(counters_.dropped);
        return false;
    }
    --frame.hops;
    bridge::finalize(frame);
    count(frame, head.size() + incoming.data.size());
    if (incoming.data.empty() && forward_short(incoming, frame)) return false;
    InTransitFrame& transit = *make_transit(incoming, frame, counters_);
    const bool kept = transit.keeps_source();
    current_ = &transit;
    current_finished_ = false;
    if (!forward(transit, frame)) {
        add(counters_.dropped);
        on_frame_sent(transit);
        if (incoming.network >= 0) // it does not have the current routes yet
            send_route_update(port_at(incoming.network), incoming.from);
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

bool Forwarder::find_route(const IncomingFrame& incoming, const wire::Frame& frame) {
    if (cached_route_.next != nullptr && cached_route_.network == incoming.network &&
        cached_route_.from == incoming.from && cached_route_.to == frame.to)
        return true;
    cached_route_ = {};
    const bridge::Hop* const hop = hops_.find(frame);
    ClusterPort* const next =
        hop != nullptr && hop->kind != bridge::Hop::Kind::link ? port_in(hop->cluster) : nullptr;
    const int peer = next != nullptr ? next->network().connect_to(hops_.id_at(*hop, frame)) : -1;
    if (peer < 0) return false;
    uint64_t* const credit_due =
        incoming.network >= 0 ? &port_at(incoming.network).credit_due(incoming.from) : nullptr;
    cached_route_ = {incoming.network, incoming.from, frame.to, next, static_cast<Peer>(peer), credit_due};
    return true;
}

// Most frames are short and are sent immediately, without state. Returns false if this one is not, or others
// are queued before it.
bool Forwarder::forward_short(const IncomingFrame& incoming, const wire::Frame& frame) {
    constexpr size_t longest = wire::frame_head_max + wire::frame_small;
    const std::span<const std::byte> bytes = incoming.head;
    if (bytes.size() > longest || counters_.waiting.load(std::memory_order_relaxed) != 0 ||
        !find_route(incoming, frame))
        return false;
    std::byte copy[longest];
    std::memcpy(copy, bytes.data(), bytes.size());
    std::memcpy(copy, &frame, sizeof frame);
    const ClusterPort& next = *cached_route_.next;
    if (next.network().send_frame(cached_route_.peer, {copy, bytes.size()}, {}, nullptr,
                                  transport::Batching::allowed) != PostStatus::done)
        return false;
    count_forwarded(next.counters(), bytes.size());
    if (cached_route_.credit_due != nullptr)
        port_at(incoming.network).grant_credit(incoming.from, *cached_route_.credit_due, bytes.size());
    return true;
}

bool Forwarder::forward(InTransitFrame& t, const wire::Frame& frame) {
    const bridge::Hop* const hop = hops_.find(frame);
    if (hop == nullptr) return false;
    const uint64_t bytes = t.bytes;
    const auto count_result = [&](PortCounters& port, bool passed) {
        if (passed)
            count_forwarded(port, bytes);
        else
            add(port.dropped);
        return passed;
    };
    if (hop->kind == bridge::Hop::Kind::link)
        return count_result(stats_.link(hop->link), links_ != nullptr && links_->send(hop->link, t));
    ClusterPort* const to = port_in(hop->cluster);
    return to != nullptr && count_result(to->counters(), send(*to, hops_.id_at(*hop, frame), t));
}

bool Forwarder::send(ClusterPort& to, int id, InTransitFrame& t) {
    const PostStatus posted = to.send(id, t);
    if (posted == PostStatus::done) on_frame_sent(t);
    return posted != PostStatus::failed;
}

void Forwarder::on_peer_connected(ClusterPort& port, int id) {
    for (InTransitFrame* t : port.take_waiting(id))
        if (!send(port, id, *t)) drop(port, *t);
    if (!config_.links().empty()) send_route_update(port, id);
}

// The endpoints retransmit what waits for it, perhaps on another path; its senders get their credit back.
void Forwarder::on_peer_reset(ClusterPort& port, int id) {
    cached_route_ = {}; // the next frame connects again
    for (InTransitFrame* t : port.take_waiting(id)) drop(port, *t);
}

void Forwarder::drop(ClusterPort& port, InTransitFrame& t) {
    add(counters_.dropped);
    add(port.counters().dropped);
    on_frame_sent(t);
}

void Forwarder::release(const InTransitFrame& t) {
    if (t.descriptor != nullptr) return port_at(t.network).network().release_frame(t.descriptor);
    if (t.link_buffer == nullptr) return;
    if (links_ != nullptr)
        links_->release(t.link_buffer);
    else
        delete t.link_buffer; // the links are gone
}

void Forwarder::on_frame_sent(InTransitFrame& t) {
    if (&t == current_)
        current_finished_ = true;
    else
        release(t);
    subtract(counters_.buffered_bytes, t.bytes);
    if (t.network >= 0) { // links use TCP flow control
        ClusterPort& port = port_at(t.network);
        port.grant_credit(t.from, port.credit_due(t.from), t.bytes);
    }
    delete &t;
}

bool Forwarder::reply_heartbeat(const IncomingFrame& incoming, wire::Frame frame) {
    if (incoming.network < 0 || (frame.flags & wire::frame_reply) != 0) return false;
    frame.flags = wire::frame_reply;
    port_at(incoming.network).send_control(incoming.from, frame, {});
    return false;
}

void Forwarder::on_link_up(int gateway) {
    hops_.set_link_up(gateway);
    send_route_updates();
}

void Forwarder::on_link_down(int gateway) {
    hops_.set_link_down(gateway);
    send_route_updates();
}

void Forwarder::send_route_updates() {
    cached_route_ = {};
    for (ClusterPort& port : ports_)
        for (int rank = 0; rank < config_.job_size; ++rank)
            if (std::ranges::count(config_.clusters_of(rank), port.cluster()) != 0)
                send_route_update(port, rank);
}

void Forwarder::send_route_update(ClusterPort& port, int id) {
    if (id >= config_.job_size) return;
    for (int c = 0; c < static_cast<int>(config_.cluster_map.clusters.size()); ++c) {
        wire::Frame frame{};
        frame.type = wire::FrameType::route_update;
        const wire::RouteUpdate update{c, hops_.distance_to(c)};
        port.send_control(id, frame, std::as_bytes(std::span(&update, 1)));
    }
}

ClusterPort* Forwarder::port_in(int cluster) {
    for (ClusterPort& port : ports_)
        if (port.cluster() == cluster) return &port;
    return nullptr;
}

int Forwarder::progress(PollScope scope) {
    int happened = 0;
    uint64_t rejected = 0;
    for (ClusterPort& port : ports_) {
        if (port.take_ready() || scope == PollScope::all) happened += port.network().progress();
        for (const int id : port.reset_failed_peers()) on_peer_reset(port, id);
        rejected += port.network().rejected_messages();
    }
    for (ClusterPort& port : ports_) port.network().flush_batches();
    counters_.rejected_messages.store(rejected, std::memory_order_relaxed);
    return happened;
}

bool Forwarder::arm() {
    bool all = true;
    for (ClusterPort& port : ports_)
        if (!port.arm()) all = false;
    return all;
}

std::vector<int> Forwarder::descriptors() const {
    std::vector<int> all;
    for (const ClusterPort& port : ports_) all.push_back(port.network().descriptor());
    return all;
}

} // namespace zipmpi::gateway
