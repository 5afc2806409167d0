// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/cluster_port.hpp"

#include "bridge/frame.hpp"
#include "bridge/gateway_settings.hpp"
#include "transport/engine.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::gateway {
namespace {

using transport::Batching;

constexpr size_t max_waiting = 4096; // frames for one peer without completed handshake

// Credits are returned in batches of at least this size: each is a frame that wakes a rank.
uint64_t credit_batch_bytes() {
    static const uint64_t bytes =
        std::max<uint64_t>(wire::frame_chunk, bridge::endpoint_limits().path_bytes / 4);
    return bytes;
}

} // namespace

bool ClusterPort::open(const transport::NetworkConfig& settings, const transport::FrameConfig& frames,
                       std::string& why) {
    network_ = transport::open_network(settings, frames, why);
    return network_ != nullptr;
}

PostStatus ClusterPort::send(int id, InTransitFrame& t) {
    const int peer = network_->connect_to(id);
    if (peer < 0) return PostStatus::failed;
    std::deque<InTransitFrame*>& waiting = waiting_[id];
    const auto next = static_cast<Peer>(peer);
    const PostStatus posted = !waiting.empty() ? PostStatus::would_block
                              : t.spliced != nullptr
                                  ? network_->send_spliced(next, t.head, t.data, &t, *t.spliced)
                                  : network_->send_frame(next, t.head, t.data, &t, Batching::forbidden);
    if (posted != PostStatus::would_block) return posted;
    if (waiting.size() >= max_waiting) return PostStatus::failed;
    waiting.push_back(&t);
    add(counters_.waiting);
    add(port_counters_.queued);
    return PostStatus::in_flight;
}

std::deque<InTransitFrame*> ClusterPort::take_waiting(int id) {
    std::deque<InTransitFrame*> waiting = std::exchange(waiting_[id], {});
    subtract(counters_.waiting, waiting.size());
    subtract(port_counters_.queued, waiting.size());
    return waiting;
}

void ClusterPort::send_control(int id, wire::Frame frame, std::span<const std::byte> content) {
    const int peer = network_->connect_to(id);
    if (peer < 0) return;
    std::byte bytes[sizeof frame + sizeof(wire::RouteUpdate)];
    frame.job = self_.job;
    frame.from = self_.id;
    frame.to = id;
    frame.bytes = static_cast<uint32_t>(content.size());
    bridge::finalize(frame);
    std::memcpy(bytes, &frame, sizeof frame);
    if (!content.empty()) std::memcpy(bytes + sizeof frame, content.data(), content.size());
    static_cast<void>(network_->send_frame(static_cast<Peer>(peer), {bytes, sizeof frame + content.size()},
                                           {}, nullptr, Batching::allowed));
}

void ClusterPort::grant_credit(int id, uint64_t& due, uint64_t bytes) {
    due += bytes;
    if (due < credit_batch_bytes()) return;
    wire::Frame frame{};
    frame.type = wire::FrameType::credit;
    frame.length = due;
    due = 0;
    send_control(id, frame, {});
}

std::vector<int> ClusterPort::reset_failed_peers() {
    std::vector<int> ids;
    for (const Peer peer : std::exchange(to_reset_, {})) {
        network_->reset_peer(peer);
        ids.push_back(network_->rank_of(peer));
    }
    return ids;
}

bool ClusterPort::arm() {
    if (to_reset_.empty() && !network_->has_batches() && network_->arm()) return true;
    ready_ = true;
    return false;
}

} // namespace zipmpi::gateway
