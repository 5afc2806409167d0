// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Paths (gateways) of an endpoint: which are up, what is in flight on them, their credit and rate, and the
// choice among them. Heartbeats tell whether a silent gateway is alive.
#pragma once

#include "bridge/flow_state.hpp"

#include <algorithm>

namespace zipmpi::bridge {

class PathSet {
  public:
    // As in heartbeats: this rank and its job.
    struct Sender {
        int id;
        uint64_t job;
    };
    PathSet(Sender self, int paths, const EndpointLimits& limits, EndpointIo& io, EndpointStats& counters);

    [[nodiscard]] int size() const { return static_cast<int>(paths_.size()); }
    [[nodiscard]] bool is_up(int path) const { return at(path).up; }
    // Return false if it already was.
    bool set_up(int path);
    bool set_down(int path);
    void on_heard(int path);
    void on_credit(int path, uint64_t bytes);
    void on_heartbeat(int path, uint64_t controls_confirmed);

    // Selects a path for a frame of a flow; -1: none has credit.
    [[nodiscard]] int choose(FlowRoute& route, uint64_t bytes);
    // For frames without data, which need no credit; -1: none is up.
    [[nodiscard]] int control_path(const FlowRoute& route) const;
    [[nodiscard]] bool has_path(const FlowRoute& route) const;

    // Frames in flight on a path.
    void track(int path, UnackedFrame& unacked);
    void untrack(UnackedFrame& unacked);
    // In order of sending; a copy, since the caller changes the path. Some are null.
    [[nodiscard]] std::deque<UnackedFrame*> frames_on(int path) const { return at(path).frames; }

    // An acknowledgement or grant was sent. These have no acknowledgement of their own, so a path is probed
    // until the gateway has confirmed them.
    void count_control(int path);
    [[nodiscard]] bool has_unconfirmed(int path) const { return has_unconfirmed(at(path)); }
    [[nodiscard]] bool all_confirmed() const {
        return std::ranges::none_of(paths_, [](const Path& path) { return has_unconfirmed(path); });
    }
    // None waits for confirmation of control frames, or for a heartbeat reply.
    [[nodiscard]] bool all_gateways_replied() const { return std::ranges::none_of(paths_, awaits_gateway); }
    // No heartbeat is outstanding.
    [[nodiscard]] bool all_probes_replied() const {
        return std::ranges::none_of(paths_,
                                    [](const Path& path) { return path.up && path.probe_sent_ns != 0; });
    }
    void probe(int path, uint64_t now); // sends a heartbeat, unless one is outstanding
    void probe_all();                   // all that are up
    void probe_if_silent(int path, uint64_t now);
    [[nodiscard]] bool has_timed_out(int path, uint64_t now) const;
    // Whether it is up and something on it may never be answered.
    [[nodiscard]] bool needs_check(int path) const {
        return at(path).up && (!at(path).frames.empty() || awaits_gateway(at(path)));
    }

  private:
    struct Path {
        bool up = false;
        uint64_t unacked_bytes = 0;
        double ns_per_byte = 1;
        uint64_t sampled_ns = 0;
        uint64_t sampled_bytes = 0;
        uint64_t last_heard_ns = 0;
        uint64_t probe_sent_ns = 0; // 0: no heartbeat outstanding
        uint64_t trusted_from_ns = 0;
        bool was_down = false;
        uint64_t controls_sent = 0;       // acknowledgements and grants sent
        uint64_t controls_confirmed = 0;  // of these, confirmed by the gateway
        uint64_t control_sent_ns = 0;     // time of the first unconfirmed one
        std::deque<UnackedFrame*> frames; // in order of sending; null: no longer on this path
        uint64_t first_index = 0;         // index of frames.front()
    };
    [[nodiscard]] Path& at(int path) { return paths_[static_cast<size_t>(path)]; }
    [[nodiscard]] const Path& at(int path) const { return paths_[static_cast<size_t>(path)]; }
    [[nodiscard]] static bool has_unconfirmed(const Path& path) {
        return path.up && path.controls_confirmed != path.controls_sent;
    }
    [[nodiscard]] static bool awaits_gateway(const Path& path) {
        return path.up && (path.probe_sent_ns != 0 || has_unconfirmed(path));
    }
    void send_heartbeat(int path, uint64_t now);

    Sender self_;
    const EndpointLimits& limits_;
    EndpointIo& io_;
    EndpointStats& counters_;
    std::vector<Path> paths_;
};

// `then` may be later than `now`.
inline uint64_t elapsed(uint64_t now, uint64_t then) { return now > then ? now - then : 0; }

} // namespace zipmpi::bridge
