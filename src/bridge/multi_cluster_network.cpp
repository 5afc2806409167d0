// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/multi_cluster_network.hpp"

#include "base/param.hpp"
#include "bridge/flow_state.hpp"
#include "bridge/multihomed.hpp"
#include "bridge/settings.hpp"
#include "os/clock.hpp"
#include "transport/bulk.hpp"
#include "transport/ucx/ucx_module.hpp"

#include <algorithm>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <utility>

namespace zipmpi::bridge {
namespace {

using transport::FrameArrival;
using transport::IncomingBulk;

Param<int64_t> head{"gateway.eager_limit",
                    static_cast<int64_t>(2 * wire::frame_chunk),
                    {static_cast<int64_t>(wire::frame_chunk), 1 * GiB},
                    Unit::bytes,
                    Level::tuner,
                    Scope::job_wide,
                    "bytes of a message sent to another cluster before its receive is posted"};
Param<int64_t> retained{"gateway.retransmit_buffer",
                        8 * MiB,
                        {256 * KiB, 1 * GiB},
                        Unit::bytes,
                        Level::tuner,
                        Scope::local,
                        "bytes of unacknowledged messages kept per peer in another cluster"};
Param<int64_t> path_bytes{"gateway.rank_credit",
                          2 * MiB,
                          {256 * KiB, 1 * GiB},
                          Unit::bytes,
                          Level::tuner,
                          Scope::job_wide,
                          "bytes one rank may have buffered at a gateway"};
Param<int64_t> heartbeat_timeout_ms{"gateway.heartbeat_timeout_ms",
                                    1000,
                                    {50, 600000},
                                    Unit::none,
                                    Level::user,
                                    Scope::local,
                                    "a gateway without reply for this long is no longer used"};

// Used by gateways only; declared here so that ranks accept them.
Param<int64_t> pool{"gateway.buffer_limit",
                    64 * MiB,
                    {1 * MiB, 64 * GiB},
                    Unit::bytes,
                    Level::tuner,
                    Scope::job_wide,
                    "bytes a gateway may buffer in total"};
Param<int64_t> spin_us{"gateway.spin_us",
                       0,
                       {0, 1000000},
                       Unit::none,
                       Level::tuner,
                       Scope::local,
                       "microseconds a gateway polls before it sleeps"};

// One untrusted link is enough, because senders do not determine the route of a frame.
bool has_untrusted_link(const ClusterMap& cluster_map) {
    return std::ranges::any_of(cluster_map.gateways, [](const GatewaySpec& g) {
        return std::ranges::any_of(g.links, &GatewayLink::untrusted);
    });
}

Param<bool> streams{"gateway.tcp_streams", true, Level::tuner, Scope::job_wide,
                    "use dedicated TCP connections instead of UCX between ranks and TCP-only gateways"};
Param<bool> report{"gateway.report", false, Level::user, Scope::local,
                   "print traffic totals of each gateway at the end of the job"};

// A quick filter; on_route_update() validates the frame.
bool is_route_update(std::span<const std::byte> frame) {
    constexpr size_t at = offsetof(wire::Frame, type);
    return frame.size() > at && frame[at] == static_cast<std::byte>(wire::FrameType::route_update);
}

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t reconnect_ns = 500 * ms;
constexpr uint64_t settle_ns = 100 * ms;

} // namespace

uint64_t job_number(std::string_view job_id) {
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : job_id) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return hash;
}

uint64_t gateway_buffer_limit() { return static_cast<uint64_t>(pool.get()); }
bool gateway_prints_stats() { return report; }
bool uses_frame_streams() { return streams; }
uint64_t gateway_spin_ns() { return static_cast<uint64_t>(spin_us.get()) * 1000; }

EndpointLimits endpoint_limits() {
    EndpointLimits l;
    l.eager_bytes = static_cast<uint64_t>(head.get()) / wire::frame_chunk * wire::frame_chunk;
    l.retained = static_cast<uint64_t>(retained.get());
    l.ack_bytes = std::min(l.ack_bytes, l.retained / 2); // other ranks have the same setting, or wait 1 ms
    l.path_bytes = static_cast<uint64_t>(path_bytes.get());
    l.heartbeat_timeout_ns = static_cast<uint64_t>(heartbeat_timeout_ms.get()) * ms;
    l.heartbeat_ns = std::min(l.heartbeat_ns, l.heartbeat_timeout_ns / 3);
    l.partition_timeout_ns = static_cast<uint64_t>(partition_timeout_seconds()) * 1000 * ms;
    return l;
}

MultiClusterNetwork::MultiClusterNetwork(const transport::NetworkConfig& settings,
                                         const ClusterLocator& locator, std::string_view job_id)
    : own_rank_(settings.world_rank)
    , locator_(locator)
    , job_(job_number(job_id))
    , callbacks_(settings.callbacks)
    , routes_(*locator.cluster_map)
    , endpoint_(settings.world_rank, job_, static_cast<int>(locator.cluster_map->gateways.size()),
                endpoint_limits(), endpoint_callbacks(), endpoint_io())
    , epoll_(epoll_create1(EPOLL_CLOEXEC))
    , timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    for (const GatewaySpec& g : locator.cluster_map->gateways) paths_.emplace_back().gateway = g.number;
}

std::unique_ptr<MultiClusterNetwork> MultiClusterNetwork::open(const transport::NetworkConfig& settings,
                                                               const ClusterLocator& locator,
                                                               std::string_view job_id, std::string& why) {
    std::unique_ptr<MultiClusterNetwork> made(new MultiClusterNetwork(settings, locator, job_id));
    transport::NetworkConfig inner = settings;
    inner.callbacks = made->inner_callbacks();
    inner.detect_from = locator.job_size;
    made->inner_ = made->open_inner(inner, why);
    if (made->inner_ == nullptr) return nullptr;
    if (has_untrusted_link(*locator.cluster_map)) {
        made->aead_.reset(transport::ucx::open_aead(settings.key, why));
        if (made->aead_ == nullptr) return nullptr;
        made->endpoint_.set_aead(*made->aead_);
    }
    for (const int fd : {made->inner_->descriptor(), made->timer_.get()}) {
        epoll_event event{};
        event.events = EPOLLIN;
        if (epoll_ctl(made->epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) continue;
        why = "no file descriptor available for the connection to other clusters";
        return nullptr;
    }
    return made;
}

std::unique_ptr<transport::FrameNetwork>
MultiClusterNetwork::open_inner(const transport::NetworkConfig& inner, std::string& why) {
    transport::FrameConfig frames{};
    frames.streams = streams;
    const std::vector<int>& own = locator_.clusters_of(own_rank_);
    if (own.size() < 2) {
        frames.receive_buffer_for = [](void* self, std::span<const std::byte> frame_head, size_t bytes) {
            return static_cast<MultiClusterNetwork*>(self)->endpoint_.receive_buffer_for(frame_head, bytes);
        };
        return std::unique_ptr<transport::FrameNetwork>(transport::ucx::open_for_frames(inner, frames, why));
    }
    MultihomedNetwork::MultihomedConfig plan;
    std::string_view rest = inner.devices;
    for (size_t i = 0; i < own.size(); ++i) {
        const size_t separator = rest.find(device_group_separator);
        plan.devices.emplace_back(rest.substr(0, separator));
        if (separator != std::string_view::npos) rest.remove_prefix(separator + 1); // else one list for all
    }
    plan.subject = this;
    plan.subnetwork_of = [](void* self, int id) {
        const auto& net = *static_cast<MultiClusterNetwork*>(self);
        const std::vector<int>& clusters = net.locator_.clusters_of(net.own_rank_);
        const auto shared = std::ranges::find(clusters, net.locator_.cluster_to(net.own_rank_, id));
        return shared == clusters.end() ? 0 : static_cast<int>(shared - clusters.begin());
    };
    return MultihomedNetwork::open(inner, frames, plan, why);
}

const std::string& MultiClusterNetwork::address_in(size_t own_cluster) const {
    return locator_.clusters_of(own_rank_).size() < 2
               ? inner_->address()
               : static_cast<const MultihomedNetwork&>(*inner_).address_in(own_cluster);
}

void MultiClusterNetwork::connect_gateways() {
    for (PathState& path : paths_) {
        const int id = gateway_id(locator_.job_size, path.gateway);
        if (locator_.cluster_to(own_rank_, id) >= 0) path.peer = inner_->connect_to(id);
    }
}

bool MultiClusterNetwork::paths_ready() const {
    return std::ranges::all_of(paths_, [this](const PathState& path) {
        return path.peer < 0 || path.reset_pending || path.retry_ns != 0 ||
               (endpoint_.is_up(path.gateway) && inner_->path_ready(static_cast<Peer>(path.peer)));
    });
}

// Avoids latency of the first message: creates flows and makes one round trip to the gateways.
void MultiClusterNetwork::prepare_flows() {
    constexpr int max_ahead = 64; // in large jobs, ranks do not communicate with all others
    int ahead = 0;
    for (int rank = 0; rank < locator_.job_size && ahead < max_ahead; ++rank) {
        if (rank == own_rank_ || shares_cluster_with(rank)) continue;
        static_cast<void>(connect_to(rank));
        ++ahead;
    }
    endpoint_.probe_all_paths();
}

void MultiClusterNetwork::wait_until_ready() {
    const uint64_t deadline = os::now_ns() + settle_ns;
    bool probed = false;
    for (uint64_t now = os::now_ns(); now < deadline; now = os::now_ns()) {
        if (paths_ready() && !std::exchange(probed, true)) prepare_flows();
        if (probed && endpoint_.all_paths_replied()) return;
        if (progress() != 0 || !arm()) continue;
        pollfd ready{descriptor(), POLLIN, 0};
        static_cast<void>(poll(&ready, 1, 1)); // UCX raises no event for some connection steps
    }
}

int MultiClusterNetwork::path_of(int id) const {
    const int gateway = id - locator_.job_size;
    return gateway >= 0 && gateway < static_cast<int>(paths_.size()) ? gateway : -1;
}

std::vector<int> MultiClusterNetwork::paths_to(int world_rank) const {
    const std::vector<int>& there = locator_.clusters_of(world_rank);
    std::vector<int> paths = routes_.nearest_gateways(locator_.clusters_of(own_rank_), there);
    std::erase_if(paths, [&](int path) {
        const std::vector<int>& blocked = paths_[static_cast<size_t>(path)].blocked;
        return std::ranges::all_of(there, [&](int c) { return std::ranges::count(blocked, c) != 0; });
    });
    return paths;
}

Peer MultiClusterNetwork::outer_peer(bool relayed, Peer inner) {
    std::vector<int>& it = relayed ? by_relayed_ : by_direct_;
    if (it.size() <= inner) it.resize(inner + 1, -1);
    if (it[inner] < 0) {
        it[inner] = static_cast<int>(peers_.size());
        peers_.push_back({relayed, inner});
    }
    return static_cast<Peer>(it[inner]);
}

template <bool far>
transport::NetworkCallbacks MultiClusterNetwork::forwarding_callbacks() {
    transport::NetworkCallbacks s = callbacks_;
    s.subject = this;
    s.arrived = [](void* self, const transport::Arrival& a) {
        auto& net = *static_cast<MultiClusterNetwork*>(self);
        net.callbacks_.arrived(net.callbacks_.subject,
                               {net.outer_peer(far, a.from), a.envelope, a.payload, a.bulk, a.bulk_bytes});
    };
    s.rts_arrived = [](void* self, const transport::Arrival& a, IncomingBulk& bytes, uint64_t length) {
        auto& net = *static_cast<MultiClusterNetwork*>(self);
        net.callbacks_.rts_arrived(net.callbacks_.subject,
                                   {net.outer_peer(far, a.from), a.envelope, a.payload, a.bulk, a.bulk_bytes},
                                   bytes, length);
    };
    s.sent = [](void* self, void* operation, OpStatus outcome) {
        auto& net = *static_cast<MultiClusterNetwork*>(self);
        net.callbacks_.sent(net.callbacks_.subject, operation, outcome);
    };
    s.fetched = [](void* self, void* operation, OpStatus outcome) {
        auto& net = *static_cast<MultiClusterNetwork*>(self);
        net.callbacks_.fetched(net.callbacks_.subject, operation, outcome);
    };
    s.peer_failed = [](void* self, Peer peer, const char* why) {
        auto& net = *static_cast<MultiClusterNetwork*>(self);
        net.callbacks_.peer_failed(net.callbacks_.subject, net.outer_peer(far, peer), why);
    };
    return s;
}

transport::NetworkCallbacks MultiClusterNetwork::inner_callbacks() {
    transport::NetworkCallbacks s = forwarding_callbacks<false>();
    s.peer_failed = [](void* self, Peer peer, const char* why) {
        auto& net = *static_cast<MultiClusterNetwork*>(self);
        for (PathState& path : net.paths_)
            if (path.peer == static_cast<int>(peer)) {
                path.reset_pending = true;
                path.retry_ns = os::now_ns() + reconnect_ns; // unless it was restarted and connects itself
                return net.endpoint_.path_down(path.gateway);
            }
        if (net.path_of(net.inner_->rank_of(peer)) >= 0) return; // a gateway in a second network
        net.callbacks_.peer_failed(net.callbacks_.subject, net.outer_peer(false, peer), why);
    };
    s.frame_arrived = [](void* self, const FrameArrival& f) {
        auto& net = *static_cast<MultiClusterNetwork*>(self);
        const int path = net.path_of(f.id);
        if (path < 0) return false;
        net.endpoint_.on_frame(path, f.head, f.data);
        if (is_route_update(f.head)) net.on_route_update(path, f.head, f.data);
        return false;
    };
    s.frame_sent = [](void* self, void* ticket) {
        static_cast<MultiClusterNetwork*>(self)->endpoint_.on_frame_sent(ticket);
    };
    s.peer_connected = [](void* self, Peer peer, int id) {
        auto& net = *static_cast<MultiClusterNetwork*>(self);
        const int path = net.path_of(id);
        if (path < 0) return;
        PathState& state = net.paths_[static_cast<size_t>(path)];
        state.peer = static_cast<int>(peer);
        state.reset_pending = false;
        state.retry_ns = 0;
        if (net.endpoint_.is_up(path)) net.endpoint_.path_down(path); // frames on it may be lost
        net.endpoint_.path_up(path);
    };
    return s;
}

transport::NetworkCallbacks MultiClusterNetwork::endpoint_callbacks() { return forwarding_callbacks<true>(); }

EndpointIo MultiClusterNetwork::endpoint_io() {
    EndpointIo w;
    w.subject = this;
    w.send = [](void* self, int path, std::span<const std::byte> frame_head, std::span<const std::byte> data,
                void* ticket) {
        auto& net = *static_cast<MultiClusterNetwork*>(self);
        const PathState& state = net.paths_[static_cast<size_t>(path)];
        if (state.peer < 0 || state.reset_pending) return PostStatus::failed;
        return net.inner_->send_frame(static_cast<Peer>(state.peer), frame_head, data, ticket, net.batching_);
    };
    w.close_path = [](void* self, int path) {
        PathState& state = static_cast<MultiClusterNetwork*>(self)->paths_[static_cast<size_t>(path)];
        state.reset_pending = true;
        state.retry_ns = os::now_ns() + reconnect_ns;
    };
    w.revoke_buffer = [](void* self, std::span<const std::byte> memory) {
        static_cast<MultiClusterNetwork*>(self)->inner_->revoke_buffer(memory);
    };
    w.paths_to = [](void* self, int world_rank) -> std::vector<int> {
        return static_cast<MultiClusterNetwork*>(self)->paths_to(world_rank);
    };
    w.now_ns = [] { return os::now_ns(); };
    return w;
}

// A gateway reports that it reaches, or no longer reaches, a cluster.
void MultiClusterNetwork::on_route_update(int path, std::span<const std::byte> bytes,
                                          std::span<const std::byte> data) {
    FrameView v;
    wire::RouteUpdate update{};
    if (!read_frame(bytes, data, job_, v) || !read_route_update(v, update)) return;
    std::vector<int>& blocked = paths_[static_cast<size_t>(path)].blocked;
    const bool was_blocked = std::erase(blocked, update.cluster) != 0;
    if (update.distance == 0) blocked.push_back(update.cluster);
    if (was_blocked != (update.distance == 0)) endpoint_.reroute();
}

bool MultiClusterNetwork::shares_cluster_with(int world_rank) const {
    const auto node_clusters = [&](int rank) -> const NodeClusters& {
        return locator_.cluster_map->nodes[static_cast<size_t>(locator_.node_of(locator_.subject, rank))];
    };
    return share_cluster(node_clusters(own_rank_), node_clusters(world_rank));
}

int MultiClusterNetwork::connect_to(int world_rank) {
    const auto it = by_rank_.find(world_rank);
    if (it != by_rank_.end()) return it->second;
    const bool direct = shares_cluster_with(world_rank);
    if (!direct &&
        routes_.nearest_gateways(locator_.clusters_of(own_rank_), locator_.clusters_of(world_rank)).empty())
        return -1;
    const int inner = direct ? inner_->connect_to(world_rank) : static_cast<int>(endpoint_.flow(world_rank));
    if (inner < 0) return -1;
    const int index = static_cast<int>(outer_peer(!direct, static_cast<Peer>(inner)));
    by_rank_.emplace(world_rank, index);
    return index;
}

int MultiClusterNetwork::rank_of(Peer peer) const {
    const PeerRoute& at = peers_[peer];
    return at.relayed ? endpoint_.rank_of(at.inner) : inner_->rank_of(at.inner);
}

void MultiClusterNetwork::fail_peer(int world_rank) {
    if (shares_cluster_with(world_rank))
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
    batching_ = true;
    const PostStatus posted = endpoint_.send(to.inner, envelope, payload, data);
    batching_ = false;
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
    if (endpoint_.owns(&bytes))
        endpoint_.fetch(static_cast<ChunkedReceive&>(bytes), to);
    else
        inner_->fetch(bytes, to);
}

void MultiClusterNetwork::drop(IncomingBulk& bytes) {
    if (endpoint_.owns(&bytes))
        endpoint_.drop(static_cast<ChunkedReceive&>(bytes));
    else
        inner_->drop(bytes);
}

int MultiClusterNetwork::progress() {
    batching_ = true;
    int happened = inner_->progress() + endpoint_.advance() + check_paths();
    batching_ = false;
    inner_->flush_batches();
    for (void* operation : std::exchange(batched_ops_, {})) {
        callbacks_.sent(callbacks_.subject, operation, OpStatus::done);
        ++happened;
    }
    // A poll is a system call, so yielding costs little; and this rank may keep a gateway on this host, or
    // another process that the awaited frame depends on, from running.
    const bool bulk = endpoint_.in_bulk();
    transport::bulk_via_gateways.store(bulk, std::memory_order_relaxed);
    if (happened == 0 && !bulk) os::yield_cpu();
    return happened;
}

int MultiClusterNetwork::check_paths() {
    int happened = 0;
    for (PathState& path : paths_) {
        if (path.peer < 0) continue;
        if (std::exchange(path.reset_pending, false)) {
            inner_->reset_peer(static_cast<Peer>(path.peer));
            ++happened;
        }
        if (path.retry_ns == 0 || os::now_ns() < path.retry_ns) continue;
        path.retry_ns = os::now_ns() + reconnect_ns;
        inner_->reset_peer(static_cast<Peer>(path.peer));
        static_cast<void>(inner_->connect_to(gateway_id(locator_.job_size, path.gateway)));
    }
    return happened;
}

bool MultiClusterNetwork::arm() {
    endpoint_.flush_before_sleep(); // a sleeping rank must not delay acknowledgements
    uint64_t due = endpoint_.next_deadline_ns();
    for (const PathState& path : paths_) {
        if (path.reset_pending) return false;
        if (path.retry_ns != 0) due = std::min(due, path.retry_ns);
    }
    return set_timer(due) && inner_->arm();
}

// Returns false if `due` has passed. A timer that expires too early is left as it is: setting it is a system
// call, and it expires only once.
bool MultiClusterNetwork::set_timer(uint64_t due) {
    const uint64_t now = os::now_ns();
    if (due <= now) return false;
    if (timer_ns_ > now && timer_ns_ <= due) return true;
    if (due == ~uint64_t{0} && timer_ns_ == 0) return true;
    itimerspec when{};
    timer_ns_ = due == ~uint64_t{0} ? 0 : due;
    when.it_value.tv_sec = static_cast<time_t>(timer_ns_ / (1000 * ms));
    when.it_value.tv_nsec = static_cast<long>(timer_ns_ % (1000 * ms));
    return timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr) == 0;
}

bool MultiClusterNetwork::idle() const { return inner_->idle() && endpoint_.idle(); }

} // namespace zipmpi::bridge
