// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/network.hpp"

#include "base/param.hpp"
#include "boot/limits.hpp"
#include "bridge/joined.hpp"
#include "os/clock.hpp"
#include "transport/bulk.hpp"

#include <algorithm>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <utility>

namespace zipmpi::bridge {
namespace {

using transport::ucx::Arriving;
using transport::ucx::FrameArrival;

Param<int64_t> head{"bridge.head",
                    static_cast<int64_t>(2 * wire::frame_chunk),
                    {static_cast<int64_t>(wire::frame_chunk), 1 * GiB},
                    Unit::bytes,
                    Level::tuner,
                    Scope::all_equal,
                    "bytes of a long message to another cluster that travel before its receive is known"};
Param<int64_t> retained{
    "bridge.retained",
    8 * MiB,
    {256 * KiB, 1 * GiB},
    Unit::bytes,
    Level::tuner,
    Scope::local,
    "copies of messages to one rank in another cluster that wait for its acknowledgement"};
Param<int64_t> lane_bytes{"bridge.lane",
                          2 * MiB,
                          {256 * KiB, 1 * GiB},
                          Unit::bytes,
                          Level::tuner,
                          Scope::all_equal,
                          "bytes of one rank that a gateway may hold"};
Param<int64_t> silence_ms{"bridge.silence_ms",
                          1000,
                          {50, 600000},
                          Unit::none,
                          Level::user,
                          Scope::local,
                          "a gateway that does not answer for so many milliseconds is not used any more"};

// Of gateways, and known here so that ranks do not take them for mistakes.
Param<int64_t> pool{"bridge.pool",
                    64 * MiB,
                    {1 * MiB, 64 * GiB},
                    Unit::bytes,
                    Level::tuner,
                    Scope::all_equal,
                    "bytes under way that may lie at one gateway"};
Param<int64_t> spin_us{"bridge.spin_us",
                       0,
                       {0, 1000000},
                       Unit::none,
                       Level::tuner,
                       Scope::local,
                       "microseconds that a gateway goes on looking for frames before it sleeps"};

// One is enough: which links a frame takes is not for its sender to know.
bool has_untrusted_link(const Grid& grid) {
    return std::ranges::any_of(
        grid.gateways, [](const GatewayPlace& g) { return std::ranges::any_of(g.links, &Link::untrusted); });
}

Param<bool> streams{"bridge.streams", true, Level::tuner, Scope::all_equal,
                    "frames between ranks and gateways that are reached by TCP alone go over connections of "
                    "their own, not through UCX"};
Param<bool> report{"bridge.report", false, Level::user, Scope::local,
                   "each gateway says at the end of the job what has crossed it"};

// A first look; take_news() checks the frame.
bool is_news(std::span<const std::byte> frame) {
    constexpr size_t at = offsetof(wire::Frame, type);
    return frame.size() > at && frame[at] == static_cast<std::byte>(wire::FrameType::news);
}

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t hello_again_ns = 500 * ms;
constexpr uint64_t settle_ns = 100 * ms;

} // namespace

uint64_t job_number(std::string_view job_id) {
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : job_id) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return hash;
}

uint64_t gateway_pool() { return static_cast<uint64_t>(pool.get()); }
bool gateway_reports() { return report; }
bool frames_by_streams() { return streams; }
uint64_t gateway_spin_ns() { return static_cast<uint64_t>(spin_us.get()) * 1000; }

EndLimits end_limits() {
    EndLimits l;
    l.head = static_cast<uint64_t>(head.get()) / wire::frame_chunk * wire::frame_chunk;
    l.retained = static_cast<uint64_t>(retained.get());
    l.ack_bytes = std::min(l.ack_bytes, l.retained / 2); // others have the same setting, or wait 1 ms for it
    l.lane_bytes = static_cast<uint64_t>(lane_bytes.get());
    l.silence_ns = static_cast<uint64_t>(silence_ms.get()) * ms;
    l.beat_ns = std::min(l.beat_ns, l.silence_ns / 3);
    l.grace_ns = static_cast<uint64_t>(boot::grace_seconds()) * 1000 * ms;
    return l;
}

BridgedNetwork::BridgedNetwork(const transport::ucx::Settings& settings, const Places& places,
                               std::string_view job_id)
    : own_rank_(settings.world_rank)
    , places_(places)
    , job_(job_number(job_id))
    , sink_(settings.sink)
    , routes_(*places.grid)
    , end_(settings.world_rank, job_, static_cast<int>(places.grid->gateways.size()), end_limits(),
           end_sink(), end_world())
    , epoll_(epoll_create1(EPOLL_CLOEXEC))
    , timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    for (const GatewayPlace& g : places.grid->gateways) lanes_.emplace_back().gateway = g.number;
}

std::unique_ptr<BridgedNetwork> BridgedNetwork::open(const transport::ucx::Settings& settings,
                                                     const Places& places, std::string_view job_id,
                                                     std::string& why) {
    std::unique_ptr<BridgedNetwork> made(new BridgedNetwork(settings, places, job_id));
    transport::ucx::Settings inner = settings;
    inner.sink = made->inner_sink();
    inner.watch_from = places.job_size;
    made->inner_ = made->open_inner(inner, why);
    if (made->inner_ == nullptr) return nullptr;
    if (has_untrusted_link(*places.grid)) {
        made->sealer_.reset(transport::ucx::open_sealer(settings.key, why));
        if (made->sealer_ == nullptr) return nullptr;
        made->end_.use(*made->sealer_);
    }
    for (const int fd : {made->inner_->descriptor(), made->timer_.get()}) {
        epoll_event event{};
        event.events = EPOLLIN;
        if (epoll_ctl(made->epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) continue;
        why = "no descriptor is left for the bridge between clusters";
        return nullptr;
    }
    return made;
}

std::unique_ptr<transport::ucx::FrameNetwork>
BridgedNetwork::open_inner(const transport::ucx::Settings& inner, std::string& why) {
    transport::ucx::FrameSettings frames{};
    frames.streams = streams;
    const std::vector<int>& own = places_.clusters_of(own_rank_);
    if (own.size() < 2) {
        frames.place = [](void* self, std::span<const std::byte> frame_head, size_t bytes) {
            return static_cast<BridgedNetwork*>(self)->end_.place(frame_head, bytes);
        };
        return std::unique_ptr<transport::ucx::FrameNetwork>(
            transport::ucx::open_for_frames(inner, frames, why));
    }
    JoinedNetwork::Plan plan;
    std::string_view rest = inner.devices;
    for (size_t i = 0; i < own.size(); ++i) {
        const size_t end = rest.find(between_devices);
        plan.devices.emplace_back(rest.substr(0, end));
        if (end != std::string_view::npos) rest.remove_prefix(end + 1); // else they were named, for all
    }
    plan.subject = this;
    plan.part_of = [](void* self, int id) {
        const auto& net = *static_cast<BridgedNetwork*>(self);
        const std::vector<int>& clusters = net.places_.clusters_of(net.own_rank_);
        const auto shared = std::ranges::find(clusters, net.places_.cluster_to(net.own_rank_, id));
        return shared == clusters.end() ? 0 : static_cast<int>(shared - clusters.begin());
    };
    return JoinedNetwork::open(inner, frames, plan, why);
}

const std::string& BridgedNetwork::address_in(size_t own_cluster) const {
    return places_.clusters_of(own_rank_).size() < 2
               ? inner_->address()
               : static_cast<const JoinedNetwork&>(*inner_).address_in(own_cluster);
}

void BridgedNetwork::meet_gateways() {
    for (LaneState& lane : lanes_) {
        const int id = gateway_id(places_.job_size, lane.gateway);
        if (places_.cluster_to(own_rank_, id) >= 0) lane.peer = inner_->reach(id);
    }
}

bool BridgedNetwork::settled() const {
    return std::ranges::all_of(lanes_, [this](const LaneState& lane) {
        return lane.peer < 0 || lane.to_forget || lane.again_ns != 0 ||
               (end_.is_up(lane.gateway) && inner_->settled(static_cast<Peer>(lane.peer)));
    });
}

// What the first message would have to do otherwise: flows are made, and the way to gateways and back is gone
// once.
void BridgedNetwork::get_ready() {
    constexpr int most_ahead = 64; // ranks; those of large jobs do not speak with all others
    int ahead = 0;
    for (int rank = 0; rank < places_.job_size && ahead < most_ahead; ++rank) {
        if (rank == own_rank_ || share_cluster_with(rank)) continue;
        static_cast<void>(reach(rank));
        ++ahead;
    }
    end_.ask_all();
}

void BridgedNetwork::settle() {
    const uint64_t end = os::now_ns() + settle_ns;
    bool asked = false;
    for (uint64_t now = os::now_ns(); now < end; now = os::now_ns()) {
        if (settled() && !std::exchange(asked, true)) get_ready();
        if (asked && end_.all_answered()) return;
        if (progress() != 0 || !arm()) continue;
        pollfd ready{descriptor(), POLLIN, 0};
        static_cast<void>(poll(&ready, 1, 1)); // UCX does not tell all that happens while it connects
    }
}

int BridgedNetwork::lane_of(int id) const {
    const int gateway = id - places_.job_size;
    return gateway >= 0 && gateway < static_cast<int>(lanes_.size()) ? gateway : -1;
}

std::vector<int> BridgedNetwork::lanes_to(int world_rank) const {
    const std::vector<int>& there = places_.clusters_of(world_rank);
    std::vector<int> lanes = routes_.lanes(places_.clusters_of(own_rank_), there);
    std::erase_if(lanes, [&](int lane) {
        const std::vector<int>& blocked = lanes_[static_cast<size_t>(lane)].blocked;
        return std::ranges::all_of(there, [&](int c) { return std::ranges::count(blocked, c) != 0; });
    });
    return lanes;
}

Peer BridgedNetwork::number(bool far, Peer inner) {
    std::vector<int>& known = far ? by_far_ : by_near_;
    if (known.size() <= inner) known.resize(inner + 1, -1);
    if (known[inner] < 0) {
        known[inner] = static_cast<int>(peers_.size());
        peers_.push_back({far, inner});
    }
    return static_cast<Peer>(known[inner]);
}

template <bool far>
transport::ucx::Sink BridgedNetwork::upwards() {
    transport::ucx::Sink s = sink_;
    s.subject = this;
    s.arrived = [](void* self, const transport::Arrival& a) {
        auto& net = *static_cast<BridgedNetwork*>(self);
        net.sink_.arrived(net.sink_.subject,
                          {net.number(far, a.from), a.envelope, a.payload, a.bulk, a.bulk_bytes});
    };
    s.announced = [](void* self, const transport::Arrival& a, Arriving& bytes, uint64_t length) {
        auto& net = *static_cast<BridgedNetwork*>(self);
        net.sink_.announced(net.sink_.subject,
                            {net.number(far, a.from), a.envelope, a.payload, a.bulk, a.bulk_bytes}, bytes,
                            length);
    };
    s.sent = [](void* self, void* operation, Outcome outcome) {
        auto& net = *static_cast<BridgedNetwork*>(self);
        net.sink_.sent(net.sink_.subject, operation, outcome);
    };
    s.received = [](void* self, void* operation, Outcome outcome) {
        auto& net = *static_cast<BridgedNetwork*>(self);
        net.sink_.received(net.sink_.subject, operation, outcome);
    };
    s.lost = [](void* self, Peer peer, const char* why) {
        auto& net = *static_cast<BridgedNetwork*>(self);
        net.sink_.lost(net.sink_.subject, net.number(far, peer), why);
    };
    return s;
}

transport::ucx::Sink BridgedNetwork::inner_sink() {
    transport::ucx::Sink s = upwards<false>();
    s.lost = [](void* self, Peer peer, const char* why) {
        auto& net = *static_cast<BridgedNetwork*>(self);
        for (LaneState& lane : net.lanes_)
            if (lane.peer == static_cast<int>(peer)) {
                lane.to_forget = true;
                lane.again_ns = os::now_ns() + hello_again_ns; // unless it was started again and does
                return net.end_.lane_down(lane.gateway);
            }
        if (net.lane_of(net.inner_->rank_of(peer)) >= 0) return; // a gateway, in a second network
        net.sink_.lost(net.sink_.subject, net.number(false, peer), why);
    };
    s.frame = [](void* self, const FrameArrival& f) {
        auto& net = *static_cast<BridgedNetwork*>(self);
        const int lane = net.lane_of(f.id);
        if (lane < 0) return false;
        net.end_.take(lane, f.head, f.data);
        if (is_news(f.head)) net.take_news(lane, f.head, f.data);
        return false;
    };
    s.frame_left = [](void* self, void* ticket) { static_cast<BridgedNetwork*>(self)->end_.left(ticket); };
    s.met = [](void* self, Peer peer, int id) {
        auto& net = *static_cast<BridgedNetwork*>(self);
        const int lane = net.lane_of(id);
        if (lane < 0) return;
        LaneState& state = net.lanes_[static_cast<size_t>(lane)];
        state.peer = static_cast<int>(peer);
        state.to_forget = false;
        state.again_ns = 0;
        if (net.end_.is_up(lane)) net.end_.lane_down(lane); // what was on it may be lost
        net.end_.lane_up(lane);
    };
    return s;
}

transport::ucx::Sink BridgedNetwork::end_sink() { return upwards<true>(); }

EndWorld BridgedNetwork::end_world() {
    EndWorld w;
    w.subject = this;
    w.send = [](void* self, int lane, std::span<const std::byte> frame_head, std::span<const std::byte> data,
                void* ticket) {
        auto& net = *static_cast<BridgedNetwork*>(self);
        const LaneState& state = net.lanes_[static_cast<size_t>(lane)];
        if (state.peer < 0 || state.to_forget) return Posted::failed;
        return net.inner_->send_frame(static_cast<Peer>(state.peer), frame_head, data, ticket, net.gathers_);
    };
    w.close_lane = [](void* self, int lane) {
        LaneState& state = static_cast<BridgedNetwork*>(self)->lanes_[static_cast<size_t>(lane)];
        state.to_forget = true;
        state.again_ns = os::now_ns() + hello_again_ns;
    };
    w.withdraw = [](void* self, std::span<const std::byte> memory) {
        static_cast<BridgedNetwork*>(self)->inner_->withdraw(memory);
    };
    w.lanes_to = [](void* self, int world_rank) -> std::vector<int> {
        return static_cast<BridgedNetwork*>(self)->lanes_to(world_rank);
    };
    w.now_ns = [] { return os::now_ns(); };
    return w;
}

// A gateway tells that it does, or does not, reach a cluster any more.
void BridgedNetwork::take_news(int lane, std::span<const std::byte> bytes, std::span<const std::byte> data) {
    FrameView v;
    wire::News news{};
    if (!read_frame(bytes, data, job_, v) || !read_news(v, news)) return;
    std::vector<int>& blocked = lanes_[static_cast<size_t>(lane)].blocked;
    const bool was_blocked = std::erase(blocked, news.cluster) != 0;
    if (news.distance == 0) blocked.push_back(news.cluster);
    if (was_blocked != (news.distance == 0)) end_.reroute();
}

bool BridgedNetwork::share_cluster_with(int world_rank) const {
    const auto place_of = [&](int rank) -> const NodePlace& {
        return places_.grid->nodes[static_cast<size_t>(places_.node_of(places_.subject, rank))];
    };
    return share_cluster(place_of(own_rank_), place_of(world_rank));
}

int BridgedNetwork::reach(int world_rank) {
    const auto known = by_rank_.find(world_rank);
    if (known != by_rank_.end()) return known->second;
    const bool near = share_cluster_with(world_rank);
    if (!near && routes_.lanes(places_.clusters_of(own_rank_), places_.clusters_of(world_rank)).empty())
        return -1;
    const int inner = near ? inner_->reach(world_rank) : static_cast<int>(end_.flow(world_rank));
    if (inner < 0) return -1;
    const int index = static_cast<int>(number(!near, static_cast<Peer>(inner)));
    by_rank_.emplace(world_rank, index);
    return index;
}

int BridgedNetwork::rank_of(Peer peer) const {
    const Place& at = peers_[peer];
    return at.far ? end_.rank_of(at.inner) : inner_->rank_of(at.inner);
}

void BridgedNetwork::give_up(int world_rank) {
    if (share_cluster_with(world_rank))
        inner_->give_up(world_rank);
    else
        end_.give_up(world_rank);
}

uint64_t BridgedNetwork::rendezvous_from(Peer peer) const {
    return peers_[peer].far ? 0 : inner_->rendezvous_from(peers_[peer].inner);
}

uint64_t BridgedNetwork::longest_at_once(Peer peer) const {
    return peers_[peer].far ? wire::frame_chunk : inner_->longest_at_once(peers_[peer].inner);
}

Posted BridgedNetwork::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const Memory& data) {
    const Place to = peers_[peer];
    return to.far ? end_.send(to.inner, envelope, payload, data)
                  : inner_->send(to.inner, envelope, payload, data);
}

Posted BridgedNetwork::send_soon(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                 const Memory& data) {
    const Place to = peers_[peer];
    if (!to.far) return inner_->send_soon(to.inner, envelope, payload, data);
    gathers_ = true;
    const Posted posted = end_.send(to.inner, envelope, payload, data);
    gathers_ = false;
    if (posted != Posted::done || !inner_->has_waiting()) return posted;
    riders_.push_back(data.operation); // it has been copied, but nobody else makes frames leave
    return Posted::under_way;
}

Posted BridgedNetwork::send_long(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                 const Memory& data) {
    const Place to = peers_[peer];
    return to.far ? end_.send_long(to.inner, envelope, payload, data)
                  : inner_->send_long(to.inner, envelope, payload, data);
}

void BridgedNetwork::receive(Arriving& bytes, const Memory& to) {
    if (end_.owns(&bytes))
        end_.receive(reinterpret_cast<LongReceive&>(bytes), to);
    else
        inner_->receive(bytes, to);
}

void BridgedNetwork::drop(Arriving& bytes) {
    if (end_.owns(&bytes))
        end_.drop(reinterpret_cast<LongReceive&>(bytes));
    else
        inner_->drop(bytes);
}

int BridgedNetwork::progress() {
    gathers_ = true;
    int happened = inner_->progress() + end_.advance() + look_after_lanes();
    gathers_ = false;
    inner_->send_waiting();
    for (void* operation : std::exchange(riders_, {})) {
        sink_.sent(sink_.subject, operation, Outcome::done);
        ++happened;
    }
    // A look is a system call, so offering the CPU costs little; and a gateway on this host, or what else
    // the frame that is waited for passes, may be kept from running by nobody but us.
    const bool bulk = end_.in_bulk();
    transport::bulk_passes.store(bulk, std::memory_order_relaxed);
    if (happened == 0 && !bulk) os::yield_cpu();
    return happened;
}

int BridgedNetwork::look_after_lanes() {
    int happened = 0;
    for (LaneState& lane : lanes_) {
        if (lane.peer < 0) continue;
        if (std::exchange(lane.to_forget, false)) {
            inner_->forget(static_cast<Peer>(lane.peer));
            ++happened;
        }
        if (lane.again_ns == 0 || os::now_ns() < lane.again_ns) continue;
        lane.again_ns = os::now_ns() + hello_again_ns;
        inner_->forget(static_cast<Peer>(lane.peer));
        static_cast<void>(inner_->reach(gateway_id(places_.job_size, lane.gateway)));
    }
    return happened;
}

bool BridgedNetwork::arm() {
    end_.flush_before_sleep(); // who sleeps does not keep others waiting for what it owes
    uint64_t due = end_.next_deadline_ns();
    for (const LaneState& lane : lanes_) {
        if (lane.to_forget) return false;
        if (lane.again_ns != 0) due = std::min(due, lane.again_ns);
    }
    return set_timer(due) && inner_->arm();
}

// False: it is time. One that ends earlier than need be is left: to set it is a system call, and it ends
// once.
bool BridgedNetwork::set_timer(uint64_t due) {
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

bool BridgedNetwork::idle() const { return inner_->idle() && end_.idle(); }

} // namespace zipmpi::bridge
