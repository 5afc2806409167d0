// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Flows and paths: timeouts, failure and recovery.
#include "bridge/endpoint.hpp"

#include "bridge/flow_state.hpp"

#include <algorithm>
#include <utility>

namespace zipmpi::bridge {
namespace {

constexpr uint64_t never = ~uint64_t{0};
constexpr uint64_t sample_ns = 1'000'000;
constexpr double weight_of_new = 0.25;
constexpr uint64_t returning_heartbeats = 3; // ranks retry lost gateways every 2.5 heartbeats

// `then` may be later than `now`.
uint64_t since(uint64_t now, uint64_t then) { return now > then ? now - then : 0; }

size_t at(int path) { return static_cast<size_t>(path); }

} // namespace

Endpoint::Endpoint(int own_id, uint64_t job, int paths, const EndpointLimits& limits,
                   const transport::NetworkCallbacks& sink, const EndpointIo& io)
    : own_id_(own_id)
    , job_(job)
    , limits_(limits)
    , callbacks_(sink)
    , io_(io)
    , paths_(at(paths)) {}

Endpoint::~Endpoint() {
    for (const auto& f : flows_) {
        for (const UnackedFrame* unacked : f->window) delete unacked;
        for (const UnackedFrame* unacked : f->ready)
            if (unacked->acknowledged) delete unacked;
        for (const auto& [sequence, m] : f->chunked_sends)
            for (size_t i = 1; i < m->in_flight.size(); ++i) delete m->in_flight[i];
    }
}

Peer Endpoint::flow(int world_rank) {
    const auto it = by_rank_.find(world_rank);
    if (it != by_rank_.end()) return it->second;
    const auto index = static_cast<Peer>(flows_.size());
    by_rank_.emplace(world_rank, index);
    Flow& f = *flows_.emplace_back(std::make_unique<Flow>());
    f.world_rank = world_rank;
    f.index = index;
    f.paths = io_.paths_to(io_.subject, world_rank);
    return index;
}

int Endpoint::rank_of(Peer peer) const { return flows_[peer]->world_rank; }

void Endpoint::fail_peer(int world_rank) {
    Flow& f = *flows_[flow(world_rank)];
    if (!f.failed) fail(f);
}

void Endpoint::on_frame(int path, std::span<const std::byte> head, std::span<const std::byte> data) {
    FrameView v;
    FrameView inside;
    std::vector<std::byte> opened = std::exchange(decrypted_, {});
    const bool whole = read_frame(head, data, job_, v);
    const bool sealed = whole && io_.aead != nullptr && v.frame.type < wire::FrameType::credit;
    const bool readable = sealed ? unseal(v, head, data, opened, inside) : whole && !v.sealed;
    if (readable && v.frame.to == own_id_)
        on_frame(path, sealed ? inside : v);
    else
        ++counters_.rejected;
    decrypted_ = std::move(opened);
}

void Endpoint::on_frame(int path, const FrameView& v) {
    ++counters_.frames_in;
    paths_[at(path)].last_heard_ns = io_.now_ns();
    paths_[at(path)].probe_sent_ns = 0;
    if (!paths_[at(path)].up) path_up(path);
    if (v.frame.type >= wire::FrameType::credit) return on_gateway_frame(path, v);
    Flow& f = *flows_[flow(v.frame.from)];
    if (f.failed) return;
    f.last_heard_path = path;
    if (v.has_ack) on_ack(f, v.ack.next, {&v.ack.seen, 1});
    wire::AckBitmap ack{};
    wire::Grant grant{};
    if (v.frame.type == wire::FrameType::message)
        on_message(f, v);
    else if (v.frame.type == wire::FrameType::chunk)
        on_chunk(f, v);
    else if (read_ack(v, ack))
        on_ack(f, ack.next, ack.seen);
    else if (read_grant(v, grant))
        on_grant(f, v.frame.sequence, grant);
    else if (v.frame.type == wire::FrameType::grant && v.data.empty())
        send_receive_state(f, v.frame.sequence);
    drain_send_queue();
}

void Endpoint::on_gateway_frame(int path, const FrameView& v) {
    Path& l = paths_[at(path)];
    if (v.frame.type == wire::FrameType::credit) on_credit(l, v.frame.length);
    if (v.frame.type == wire::FrameType::heartbeat && v.frame.sequence <= l.controls_sent)
        l.controls_confirmed = std::max(l.controls_confirmed, v.frame.sequence);
    drain_send_queue();
}

void Endpoint::on_credit(Path& path, uint64_t bytes) {
    path.unacked_bytes -= std::min(bytes, path.unacked_bytes);
    path.sampled_bytes += bytes;
    const uint64_t now = io_.now_ns();
    const uint64_t took = now - path.sampled_ns;
    if (took < sample_ns) return;
    // Throughput is measured only while the path is never empty.
    if (path.unacked_bytes != 0 && took < 100 * sample_ns)
        path.ns_per_byte +=
            weight_of_new *
            (static_cast<double>(took) / static_cast<double>(path.sampled_bytes) - path.ns_per_byte);
    path.sampled_ns = now;
    path.sampled_bytes = 0;
}

void Endpoint::track_on_path(int l, UnackedFrame& unacked) {
    Path& path = paths_[at(l)];
    unacked.path = l;
    unacked.sent_ns = io_.now_ns();
    if (unacked.type == wire::FrameType::chunk) bulk_ns_ = unacked.sent_ns;
    unacked.path_index = path.first_index + path.frames.size();
    path.frames.push_back(&unacked);
    if (path.unacked_bytes == 0) {
        path.sampled_ns = unacked.sent_ns;
        path.sampled_bytes = 0;
    }
    path.unacked_bytes += unacked.data.size() + unacked.head_bytes + sizeof(wire::Frame);
}

void Endpoint::untrack(UnackedFrame& unacked) {
    if (unacked.path < 0) return;
    Path& path = paths_[at(unacked.path)];
    unacked.path = -1;
    path.frames[unacked.path_index - path.first_index] = nullptr;
    while (!path.frames.empty() && path.frames.front() == nullptr) {
        path.frames.pop_front();
        ++path.first_index;
    }
}

void Endpoint::retransmit(UnackedFrame& unacked) {
    untrack(unacked);
    if (!unacked.queued) queue(*unacked.flow, unacked, false);
}

void Endpoint::path_up(int l) {
    Path& path = paths_[at(l)];
    if (path.up) return;
    path.up = true;
    path.controls_confirmed = path.controls_sent;
    path.unacked_bytes = 0;
    path.probe_sent_ns = 0;
    path.last_heard_ns = io_.now_ns();
    if (std::exchange(path.was_down, false))
        path.trusted_from_ns = path.last_heard_ns + returning_heartbeats * limits_.heartbeat_ns;
    for (const auto& f : flows_)
        if (std::exchange(f->partitioned_since_ns, 0) != 0) send_state(*f);
    drain_send_queue();
}

void Endpoint::path_down(int l) {
    Path& path = paths_[at(l)];
    if (!path.up) return;
    path.up = false;
    path.was_down = true;
    path.unacked_bytes = 0;
    ++counters_.paths_lost;
    const std::deque<UnackedFrame*> lost = path.frames;
    for (UnackedFrame* unacked : lost)
        if (unacked != nullptr) retransmit(*unacked);
    for (const auto& f : flows_)
        if (std::ranges::count(f->paths, l) != 0) send_state(*f);
    drain_send_queue();
}

void Endpoint::reroute() {
    for (const auto& f : flows_) {
        f->paths = io_.paths_to(io_.subject, f->world_rank);
        send_state(*f);
    }
    for (Path& path : paths_) {
        const std::deque<UnackedFrame*> frames = path.frames;
        for (UnackedFrame* unacked : frames)
            if (unacked != nullptr && std::ranges::count(unacked->flow->paths, unacked->path) == 0)
                retransmit(*unacked);
    }
    drain_send_queue();
}

// Resends acknowledgements and grants that a lost path may have carried.
void Endpoint::send_state(Flow& f) {
    if (f.failed) return;
    if (f.deliver_next != 0 || !f.reordered.empty()) schedule_ack(f, limits_.ack_bytes);
    for (const auto& [sequence, m] : f.chunked_receives)
        if (m->posted && !send_grant(*m)) m->grant_due_ns = io_.now_ns();
    for (const auto& [sequence, m] : f.chunked_sends) probe_receiver(*m);
}

bool Endpoint::has_path(const Flow& f) const {
    return std::ranges::any_of(f.paths, [&](int l) { return paths_[at(l)].up; });
}

// Prefers the path on which the peer was last heard: the peer uses it, so it is probably up.
int Endpoint::control_path(const Flow& f) const {
    for (const int l : {f.last_heard_path, f.last_path})
        if (l >= 0 && paths_[at(l)].up && std::ranges::count(f.paths, l) != 0) return l;
    for (const int l : f.paths)
        if (paths_[at(l)].up) return l;
    return -1;
}

int Endpoint::advance() {
    const uint64_t now = io_.now_ns();
    int happened = send_queue_.empty() ? 0 : drain_send_queue();
    advanced_ns_ = now;
    if (now >= acks_due_ns_) {
        send_due_acks(now, now);
        ++happened;
    }
    happened += check_shutdown(now);
    constexpr uint64_t checks_per_heartbeat = 8;
    if (now - checked_ns_ < limits_.heartbeat_ns / checks_per_heartbeat) return happened;
    checked_ns_ = now;
    if (!has_pending()) return happened;
    return happened + check_paths(now) + check_flows(now);
}

void Endpoint::flush_before_sleep() {
    send_due_acks(never, io_.now_ns());
    static_cast<void>(check_shutdown(io_.now_ns())); // the acknowledgements just sent are the last
}

void Endpoint::send_due_acks(uint64_t acks_until, uint64_t grants_until) {
    acks_due_ns_ = never;
    const uint64_t retry = io_.now_ns() + limits_.ack_ns;
    const auto later = [this](uint64_t ns) { acks_due_ns_ = std::min(acks_due_ns_, ns); };
    for (const auto& f : flows_) {
        if (f->ack_due_ns == 0 || f->failed) continue;
        if (f->ack_due_ns > acks_until)
            later(f->ack_due_ns);
        else if (!send_ack(*f))
            later(retry);
    }
    for (const auto& [key, m] : receives_) {
        if (m->grant_due_ns == 0) continue;
        if (m->posted && m->grant_due_ns > grants_until)
            later(m->grant_due_ns);
        else if (!send_grant(*m))
            later(retry);
    }
}

bool Endpoint::probe_path(int l, uint64_t now) {
    Path& path = paths_[at(l)];
    wire::Frame frame{};
    frame.type = wire::FrameType::heartbeat;
    frame.job = job_;
    frame.from = own_id_;
    frame.path = static_cast<uint8_t>(l);
    frame.sequence = path.controls_sent;
    finalize(frame);
    path.probe_sent_ns = now;
    ++counters_.control_out;
    return io_.send(io_.subject, l, std::as_bytes(std::span(&frame, 1)), {}, nullptr) != PostStatus::failed;
}

void Endpoint::probe_all_paths() {
    const uint64_t now = io_.now_ns();
    for (int l = 0; l < static_cast<int>(paths_.size()); ++l)
        if (paths_[at(l)].up) static_cast<void>(probe_path(l, now));
}

// Retransmits frames that may have been lost beyond a live gateway, with exponential backoff.
int Endpoint::retransmit_late(const Path& path, uint64_t now) {
    constexpr uint32_t most_doublings = 5;
    const std::deque<UnackedFrame*> frames = path.frames;
    int happened = 0;
    for (UnackedFrame* unacked : frames) {
        if (unacked == nullptr) continue;
        if (since(now, unacked->sent_ns) < limits_.retransmit_ns) break; // later ones are newer
        if (since(now, unacked->sent_ns) < limits_.retransmit_ns
                                               << std::min(unacked->transmissions - 1, most_doublings))
            continue;
        retransmit(*unacked);
        ++happened;
    }
    return happened;
}

bool Endpoint::close_if_timed_out(int l, uint64_t now) {
    const Path& path = paths_[at(l)];
    if (path.probe_sent_ns == 0 ||
        since(now, path.probe_sent_ns) < limits_.heartbeat_timeout_ns - limits_.heartbeat_ns)
        return false;
    path_down(l);
    io_.close_path(io_.subject, l);
    return true;
}

int Endpoint::check_paths(uint64_t now) {
    int happened = 0;
    for (int l = 0; l < static_cast<int>(paths_.size()); ++l) {
        Path& path = paths_[at(l)];
        if (!path.up || (path.frames.empty() && !awaits_gateway(path))) continue;
        const uint64_t oldest = path.frames.empty() ? path.control_sent_ns : path.frames.front()->sent_ns;
        const uint64_t silent = since(now, std::max(path.last_heard_ns, oldest));
        if (close_if_timed_out(l, now))
            ++happened;
        else if (path.probe_sent_ns == 0 && silent >= limits_.heartbeat_ns)
            static_cast<void>(probe_path(l, now));
        happened += path.up ? retransmit_late(path, now) : 0;
    }
    if (happened != 0) drain_send_queue();
    return happened;
}

int Endpoint::check_flows(uint64_t now) {
    int happened = 0;
    for (size_t i = 0; i < flows_.size(); ++i) {
        Flow& f = *flows_[i];
        if (f.failed) continue;
        const bool wants = !f.window.empty() || !f.chunked_sends.empty() || !f.chunked_receives.empty();
        if (has_path(f) || !wants) {
            f.partitioned_since_ns = 0;
        } else if (f.partitioned_since_ns == 0) {
            f.partitioned_since_ns = now;
        } else if (now - f.partitioned_since_ns >= limits_.partition_timeout_ns) {
            fail(f);
            ++happened;
            continue;
        }
        for (const auto& [sequence, m] : f.chunked_receives)
            if (m->posted && since(now, m->last_heard_ns) >= limits_.retransmit_ns && send_grant(*m))
                m->last_heard_ns = now;
        for (const auto& [sequence, m] : f.chunked_sends)
            if (since(now, m->last_heard_ns) >= limits_.retransmit_ns) probe_receiver(*m);
    }
    return happened;
}

bool Endpoint::has_pending() const {
    return unacknowledged_ != 0 || !send_queue_.empty() || !receives_.empty() || !all_gateways_replied() ||
           open_chunked_sends_ != 0;
}

uint64_t Endpoint::next_deadline_ns() const {
    return std::min(acks_due_ns_, has_pending() ? checked_ns_ + limits_.heartbeat_ns / 4 : never);
}

bool Endpoint::idle() const {
    return unacknowledged_ == (shutdown_since_ns_ != 0 ? best_effort_ : 0) && acks_due_ns_ == never &&
           (shutdown_since_ns_ == 0 || all_confirmed()) && open_chunked_sends_ == 0;
}

void Endpoint::set_shutting_down(bool yes) {
    shutdown_since_ns_ = yes ? io_.now_ns() : 0;
    if (yes) static_cast<void>(check_shutdown(shutdown_since_ns_));
}

// Control frames have no acknowledgement of their own, so a path is probed until the gateway has confirmed
// them; path_down() repeats the state if it does not.
void Endpoint::count_control(Path& path) {
    if (!has_unconfirmed(path)) path.control_sent_ns = io_.now_ns();
    ++path.controls_sent;
}

int Endpoint::check_shutdown(uint64_t now) {
    if (shutdown_since_ns_ == 0) return 0;
    int happened = 0;
    for (int l = 0; l < static_cast<int>(paths_.size()); ++l) {
        const Path& path = paths_[at(l)];
        if (!has_unconfirmed(path)) continue;
        if (path.probe_sent_ns == 0) static_cast<void>(probe_path(l, now));
        happened += static_cast<int>(close_if_timed_out(l, now));
    }
    if (since(now, shutdown_since_ns_) < limits_.partition_timeout_ns)
        return happened; // peers may have exited
    for (const auto& f : flows_) {
        if (f->failed || (f->window.empty() && f->chunked_sends.empty())) continue;
        fail(*f);
        ++happened;
    }
    return happened;
}

uint64_t Endpoint::retained_bytes() const {
    uint64_t bytes = 0;
    for (const auto& f : flows_) {
        bytes += f->retained;
        for (const auto& [sequence, early] : f->reordered) bytes += early.data.size();
    }
    return bytes;
}

} // namespace zipmpi::bridge
