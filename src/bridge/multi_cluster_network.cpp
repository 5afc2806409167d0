// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/multi_cluster_network.hpp"

#include "bridge/gateway_settings.hpp"
#include "transport/engine.hpp"
#include "transport/ucx/ucx_module.hpp"

#include <algorithm>
#include <poll.h>
#include <utility>

namespace zipmpi::bridge {
namespace {

using transport::Batching;
using transport::IncomingBulk;

constexpr uint64_t settle_ns = 100'000'000;

// One untrusted link is enough, because senders do not determine the route of a frame.
bool has_untrusted_link(const ClusterMap& cluster_map) {
    return std::ranges::any_of(cluster_map.gateways, [](const GatewaySpec& g) {
        return std::ranges::any_of(g.links, &GatewayLink::untrusted);
    });
}

} // namespace

MultiClusterNetwork::MultiClusterNetwork(const transport::NetworkConfig& settings,
                                         const ClusterLocator& locator, uint64_t job)
    : own_rank_(settings.world_rank)
    , locator_(locator)
    , protocols_(*settings.listener)
    , paths_(own_rank_, locator_)
    , endpoint_({own_rank_, job, static_cast<int>(locator.cluster_map->gateways.size()), endpoint_limits(),
                 &peers_},
                protocols_, paths_)
    , frames_(job, endpoint_, paths_)
    , events_(protocols_, peers_, paths_, endpoint_) {}

std::unique_ptr<MultiClusterNetwork> MultiClusterNetwork::open(const transport::NetworkConfig& settings,
                                                               const ClusterLocator& locator,
                                                               const JobIdentity& job, std::string& why) {
    std::unique_ptr<MultiClusterNetwork> made(new MultiClusterNetwork(settings, locator, job_number(job.id)));
    if (!made->open_inner(settings, why)) return nullptr;
    if (has_untrusted_link(*locator.cluster_map)) {
        made->aead_.reset(transport::ucx::open_aead(job.end_to_end, why));
        if (made->aead_ == nullptr) return nullptr;
        made->endpoint_.set_aead(*made->aead_);
    }
    if (!made->sleep_.open() || !made->sleep_.add(made->inner_->descriptor())) {
        why = "no file descriptor available for the connection to other clusters";
        return nullptr;
    }
    return made;
}

bool MultiClusterNetwork::open_inner(const transport::NetworkConfig& settings, std::string& why) {
    transport::NetworkConfig inner = settings;
    inner.listener = &events_;
    inner.detect_from = locator_.job_size;
    transport::FrameConfig frames{};
    frames.listener = &frames_;
    frames.streams = uses_frame_streams();
    if (locator_.clusters_of(own_rank_).size() > 1) {
        if (!open_multihomed(inner, frames, why)) return false;
    } else {
        inner_ = transport::open_network(inner, frames, why);
        if (inner_ == nullptr) return false;
    }
    paths_.use_network(*inner_);
    return true;
}

bool MultiClusterNetwork::open_multihomed(const transport::NetworkConfig& inner,
                                          const transport::FrameConfig& frames, std::string& why) {
    const std::vector<int>& own = locator_.clusters_of(own_rank_);
    MultihomedNetwork::MultihomedConfig plan;
    std::string_view rest = inner.devices;
    for (size_t i = 0; i < own.size(); ++i) {
        const size_t separator = rest.find(device_group_separator);
        plan.devices.emplace_back(rest.substr(0, separator));
        if (separator != std::string_view::npos) rest.remove_prefix(separator + 1); // else one list for all
    }
    plan.subnetwork_of = [this](int id) {
        const std::vector<int>& clusters = locator_.clusters_of(own_rank_);
        const auto shared = std::ranges::find(clusters, locator_.cluster_to(own_rank_, id));
        return shared == clusters.end() ? 0 : static_cast<int>(shared - clusters.begin());
    };
    auto made = MultihomedNetwork::open(inner, frames, plan, why);
    multihomed_ = made.get();
    inner_ = std::move(made);
    return multihomed_ != nullptr;
}

// Avoids latency of the first message: creates flows and makes one round trip to the gateways.
void MultiClusterNetwork::prepare_flows() {
    constexpr int max_ahead = 64; // in large jobs, ranks do not communicate with all others
    int ahead = 0;
    for (int rank = 0; rank < locator_.job_size && ahead < max_ahead; ++rank) {
        if (rank == own_rank_ || locator_.share_cluster(own_rank_, rank)) continue;
        static_cast<void>(connect_to(rank));
        ++ahead;
    }
    endpoint_.probe_all_paths();
}

void MultiClusterNetwork::wait_until_ready() {
    const uint64_t deadline = os::now_ns() + settle_ns;
    bool probed = false;
    for (uint64_t now = os::now_ns(); now < deadline; now = os::now_ns()) {
        if (paths_.all_ready(endpoint_.paths()) && !std::exchange(probed, true)) prepare_flows();
        if (probed && endpoint_.paths().all_probes_replied()) return;
        if (progress() != 0 || !arm()) continue;
        pollfd ready{descriptor(), POLLIN, 0};
        static_cast<void>(poll(&ready, 1, 1)); // UCX raises no event for some connection steps
    }
}

int MultiClusterNetwork::connect_to(int world_rank) {
    const int known = peers_.find(world_rank);
    if (known >= 0) return known;
    Peer peer = 0;
    if (locator_.share_cluster(own_rank_, world_rank)) {
        const int inner = inner_->connect_to(world_rank);
        if (inner < 0) return -1;
        peer = peers_.number_direct(static_cast<Peer>(inner));
    } else {
        if (!paths_.has_route_to(world_rank)) return -1;
        peer = peers_.number_flow(endpoint_.flow(world_rank));
    }
    peers_.set_rank(world_rank, peer);
    return static_cast<int>(peer);
}

int MultiClusterNetwork::rank_of(Peer peer) const {
    const PeerRoute& at = peers_[peer];
    return at.relayed ? endpoint_.rank_of(at.inner) : inner_->rank_of(at.inner);
}

void MultiClusterNetwork::fail_peer(int world_rank) {
    if (locator_.share_cluster(own_rank_, world_rank))
        inner_->fail_peer(world_rank);
    else
        endpoint_.fail_peer(world_rank);
}

uint64_t MultiClusterNetwork::rendezvous_threshold(Peer peer) const {
    return peers_[peer].relayed ? 0 : inner_->rendezvous_threshold(peers_[peer].inner);
}

uint64_t MultiClusterNetwork::max_eager(Peer peer) const {
    return peers_[peer].relayed ? wire::frame_chunk : inner_->max_eager(peers_[peer].inner);
}

PostStatus MultiClusterNetwork::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                     const BufferRef& data) {
    const PeerRoute to = peers_[peer];
    return to.relayed ? endpoint_.send(to.inner, envelope, payload, data)
                      : inner_->send(to.inner, envelope, payload, data);
}

PostStatus MultiClusterNetwork::send_batched(Peer peer, const wire::Envelope& envelope,
                                             const std::byte* payload, const BufferRef& data) {
    const PeerRoute to = peers_[peer];
    if (!to.relayed) return inner_->send_batched(to.inner, envelope, payload, data);
    paths_.set_batching(Batching::allowed);
    const PostStatus posted = endpoint_.send(to.inner, envelope, payload, data);
    paths_.set_batching(Batching::forbidden);
    if (posted != PostStatus::done || !inner_->has_batches()) return posted;
    batched_ops_.push_back(data.operation); // copied, but its frames are sent only by a later progress()
    return PostStatus::in_flight;
}

PostStatus MultiClusterNetwork::send_rendezvous(Peer peer, const wire::Envelope& envelope,
                                                const std::byte* payload, const BufferRef& data) {
    const PeerRoute to = peers_[peer];
    return to.relayed ? endpoint_.send_chunked(to.inner, envelope, payload, data)
                      : inner_->send_rendezvous(to.inner, envelope, payload, data);
}

void MultiClusterNetwork::fetch(IncomingBulk& bytes, const BufferRef& to) {
    if (!endpoint_.fetch(bytes, to)) inner_->fetch(bytes, to);
}

void MultiClusterNetwork::drop(IncomingBulk& bytes) {
    if (!endpoint_.drop(bytes)) inner_->drop(bytes);
}

int MultiClusterNetwork::progress() {
    paths_.set_batching(Batching::allowed);
    int happened = inner_->progress() + endpoint_.advance() + paths_.reconnect();
    paths_.set_batching(Batching::forbidden);
    inner_->flush_batches();
    for (NetworkOperation* operation : std::exchange(batched_ops_, {})) {
        protocols_.send_finished(operation, OpStatus::done);
        ++happened;
    }
    // A poll is a system call, so yielding costs little; and this rank may keep a gateway on this host, or
    // another process that the awaited frame depends on, from running.
    relays_bulk_ = endpoint_.in_bulk();
    if (happened == 0 && !relays_bulk_) os::yield_cpu();
    return happened;
}

bool MultiClusterNetwork::arm() {
    endpoint_.flush_before_sleep(); // a sleeping rank must not delay acknowledgements
    if (paths_.has_pending_reset()) return false;
    return sleep_.set_timer(std::min(endpoint_.next_deadline_ns(), paths_.next_retry_ns())) && inner_->arm();
}

void MultiClusterNetwork::set_shutting_down(bool yes) {
    if (yes)
        endpoint_.begin_shutdown();
    else
        endpoint_.cancel_shutdown();
}

} // namespace zipmpi::bridge
