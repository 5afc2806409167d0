// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/path_set.hpp"

#include "bridge/frame.hpp"

#include <utility>

namespace zipmpi::bridge {
namespace {

constexpr uint64_t sample_ns = 1'000'000;
constexpr double weight_of_new = 0.25;
constexpr uint64_t returning_heartbeats = 3;    // ranks retry lost gateways every 2.5 heartbeats
constexpr uint64_t small = uint64_t{16} * 1024; // a flow's messages up to this size stay on one path
constexpr double switch_factor = 2;             // until another path is better by this factor
constexpr uint64_t frame_cost = 512;            // overhead of a frame in bytes

} // namespace

PathSet::PathSet(Sender self, int paths, const EndpointLimits& limits, EndpointIo& io,
                 EndpointStats& counters)
    : self_(self)
    , limits_(limits)
    , io_(io)
    , counters_(counters)
    , paths_(static_cast<size_t>(paths)) {}

bool PathSet::set_up(int l) {
    Path& path = at(l);
    if (path.up) return false;
    path.up = true;
    path.controls_confirmed = path.controls_sent;
    path.unacked_bytes = 0;
    path.probe_sent_ns = 0;
    path.last_heard_ns = io_.now_ns();
    if (std::exchange(path.was_down, false))
        path.trusted_from_ns = path.last_heard_ns + returning_heartbeats * limits_.heartbeat_ns;
    return true;
}

bool PathSet::set_down(int l) {
    Path& path = at(l);
    if (!path.up) return false;
    path.up = false;
    path.was_down = true;
    path.unacked_bytes = 0;
    ++counters_.paths_lost;
    return true;
}

void PathSet::on_heard(int l) {
    Path& path = at(l);
    path.last_heard_ns = io_.now_ns();
    path.probe_sent_ns = 0;
}

void PathSet::on_credit(int l, uint64_t bytes) {
    Path& path = at(l);
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

void PathSet::on_heartbeat(int l, uint64_t controls_confirmed) {
    Path& path = at(l);
    if (controls_confirmed <= path.controls_sent)
        path.controls_confirmed = std::max(path.controls_confirmed, controls_confirmed);
}

// Selects the path with the earliest expected completion, preferring paths heard recently. The others are
// probed; otherwise each flow would detect a hung gateway on its own, one after the other. A returned path is
// used when the peer has had time to detect it too.
int PathSet::choose(FlowRoute& route, uint64_t bytes) {
    int best = -1;
    double best_ns = 0;
    double last_ns = -1;
    const uint64_t now = route.paths.size() > 1 ? io_.now_ns() : 0;
    const auto silent = [&](const Path& path) { return path.last_heard_ns + limits_.heartbeat_ns < now; };
    const auto trusted = [&](const Path& path) {
        return path.up && !silent(path) && path.trusted_from_ns <= now;
    };
    const bool any_trusted = std::ranges::any_of(route.paths, [&](int l) { return trusted(at(l)); });
    for (const int l : route.paths) {
        const Path& path = at(l);
        if (path.up && any_trusted && !trusted(path)) {
            if (silent(path)) probe(l, now);
            continue;
        }
        if (!path.up || (path.unacked_bytes != 0 && path.unacked_bytes + bytes > limits_.path_bytes))
            continue;
        const double ns = static_cast<double>(path.unacked_bytes + bytes + frame_cost) * path.ns_per_byte;
        if (l == route.last_path) last_ns = ns;
        if (best >= 0 && ns >= best_ns) continue;
        best = l;
        best_ns = ns;
    }
    if (bytes <= small && last_ns >= 0 && last_ns <= switch_factor * best_ns) return route.last_path;
    if (best >= 0) route.last_path = best;
    return best;
}

// Prefers the path on which the peer was last heard: the peer uses it, so it is probably up.
int PathSet::control_path(const FlowRoute& route) const {
    for (const int l : {route.last_heard_path, route.last_path})
        if (l >= 0 && at(l).up && std::ranges::count(route.paths, l) != 0) return l;
    for (const int l : route.paths)
        if (at(l).up) return l;
    return -1;
}

bool PathSet::has_path(const FlowRoute& route) const {
    return std::ranges::any_of(route.paths, [&](int l) { return at(l).up; });
}

void PathSet::track(int l, UnackedFrame& unacked) {
    Path& path = at(l);
    unacked.last = {l, path.first_index + path.frames.size(), io_.now_ns()};
    path.frames.push_back(&unacked);
    if (path.unacked_bytes == 0) {
        path.sampled_ns = unacked.last.sent_ns;
        path.sampled_bytes = 0;
    }
    path.unacked_bytes += unacked.data.size() + unacked.head_bytes + sizeof(wire::Frame);
}

void PathSet::untrack(UnackedFrame& unacked) {
    if (unacked.last.path < 0) return;
    Path& path = at(unacked.last.path);
    unacked.last.path = -1;
    path.frames[unacked.last.index - path.first_index] = nullptr;
    while (!path.frames.empty() && path.frames.front() == nullptr) {
        path.frames.pop_front();
        ++path.first_index;
    }
}

void PathSet::count_control(int l) {
    Path& path = at(l);
    if (!has_unconfirmed(path)) path.control_sent_ns = io_.now_ns();
    ++path.controls_sent;
}

void PathSet::send_heartbeat(int l, uint64_t now) {
    Path& path = at(l);
    wire::Frame frame{};
    frame.type = wire::FrameType::heartbeat;
    frame.job = self_.job;
    frame.from = self_.id;
    frame.path = static_cast<uint8_t>(l);
    frame.sequence = path.controls_sent;
    finalize(frame);
    path.probe_sent_ns = now;
    ++counters_.control_out;
    static_cast<void>(io_.send(l, std::as_bytes(std::span(&frame, 1)), {}, nullptr));
}

void PathSet::probe(int l, uint64_t now) {
    if (at(l).probe_sent_ns == 0) send_heartbeat(l, now);
}

void PathSet::probe_all() {
    const uint64_t now = io_.now_ns();
    for (int l = 0; l < size(); ++l)
        if (at(l).up) send_heartbeat(l, now);
}

void PathSet::probe_if_silent(int l, uint64_t now) {
    const Path& path = at(l);
    const uint64_t oldest = path.frames.empty() ? path.control_sent_ns : path.frames.front()->last.sent_ns;
    if (elapsed(now, std::max(path.last_heard_ns, oldest)) >= limits_.heartbeat_ns) probe(l, now);
}

bool PathSet::has_timed_out(int l, uint64_t now) const {
    const Path& path = at(l);
    return path.probe_sent_ns != 0 &&
           elapsed(now, path.probe_sent_ns) >= limits_.heartbeat_timeout_ns - limits_.heartbeat_ns;
}

} // namespace zipmpi::bridge
