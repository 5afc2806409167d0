// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/flow_recovery.hpp"

#include <algorithm>
#include <utility>

namespace zipmpi::bridge {

void FlowRecovery::path_up(int path) {
    if (!paths_.set_up(path)) return;
    for (const auto& f : flows_)
        if (std::exchange(f->route.partitioned_since_ns, 0) != 0) send_state(*f);
    const uint64_t now = io_.now_ns();
    receiver_.send_due(flows_, now, now); // those that had no path
    sender_.drain();
}

void FlowRecovery::path_down(int path) {
    if (!paths_.set_down(path)) return;
    for (UnackedFrame* unacked : paths_.frames_on(path))
        if (unacked != nullptr) retransmit_elsewhere(*unacked);
    for (const auto& f : flows_)
        if (std::ranges::count(f->route.paths, path) != 0) send_state(*f);
    sender_.drain();
}

void FlowRecovery::reroute() {
    for (const auto& f : flows_) {
        f->route.paths = io_.paths_to(f->world_rank);
        send_state(*f);
    }
    for (int path = 0; path < paths_.size(); ++path)
        for (UnackedFrame* unacked : paths_.frames_on(path))
            if (unacked != nullptr && std::ranges::count(unacked->flow->route.paths, path) == 0)
                retransmit_elsewhere(*unacked);
    sender_.drain();
}

// The loss of a path says nothing about the next one: its backoff begins anew.
void FlowRecovery::retransmit_elsewhere(UnackedFrame& unacked) {
    unacked.late_retransmissions = 0;
    sender_.retransmit(unacked);
}

// A lost path may have carried acknowledgements, grants and requests for them.
void FlowRecovery::send_state(Flow& f) {
    if (f.failed) return;
    receiver_.send_state(f);
    sender_.probe_receivers(f, io_.now_ns(), 0);
}

void FlowRecovery::fail(Flow& f) {
    f.failed = true;
    sender_.fail(f);
    receiver_.fail(f);
    listener_.peer_failed(f.peer, "no gateway reaches it any longer");
}

// Retransmits frames that may have been lost beyond a live gateway, with exponential backoff.
int FlowRecovery::retransmit_late(int path, uint64_t now) {
    constexpr uint32_t most_doublings = 5;
    int happened = 0;
    for (UnackedFrame* unacked : paths_.frames_on(path)) {
        if (unacked == nullptr) continue;
        const uint64_t waited = elapsed(now, unacked->last.sent_ns);
        if (waited < limits_.retransmit_ns) break; // later ones are newer
        if (waited < limits_.retransmit_ns << std::min(unacked->late_retransmissions, most_doublings))
            continue;
        ++unacked->late_retransmissions;
        sender_.retransmit(*unacked);
        ++happened;
    }
    return happened;
}

bool FlowRecovery::close_if_timed_out(int path, uint64_t now) {
    if (!paths_.has_timed_out(path, now)) return false;
    path_down(path);
    io_.close_path(path);
    return true;
}

int FlowRecovery::check_paths(uint64_t now) {
    int happened = 0;
    for (int path = 0; path < paths_.size(); ++path) {
        if (!paths_.needs_check(path)) continue;
        if (close_if_timed_out(path, now)) {
            ++happened;
            continue;
        }
        paths_.probe_if_silent(path, now);
        happened += retransmit_late(path, now);
    }
    if (happened != 0) sender_.drain();
    return happened;
}

bool FlowRecovery::fail_if_partitioned(Flow& f, uint64_t now) {
    const bool wants =
        !f.out.window.empty() || !f.out.chunked_sends.empty() || !f.in.chunked_receives.empty();
    uint64_t& since = f.route.partitioned_since_ns;
    if (paths_.has_path(f.route) || !wants) {
        since = 0;
    } else if (since == 0) {
        since = now;
    } else if (now - since >= limits_.partition_timeout_ns) {
        fail(f);
        return true;
    }
    return false;
}

int FlowRecovery::check_flows(uint64_t now) {
    int happened = 0;
    for (size_t i = 0; i < flows_.size(); ++i) { // events may add flows
        Flow& f = flows_[static_cast<Peer>(i)];
        if (f.failed) continue;
        if (fail_if_partitioned(f, now)) {
            ++happened;
            continue;
        }
        receiver_.repeat_grants(f, now, limits_.retransmit_ns);
        sender_.probe_receivers(f, now, limits_.retransmit_ns);
    }
    return happened;
}

void FlowRecovery::begin_shutdown() {
    shutdown_since_ns_ = io_.now_ns();
    static_cast<void>(check_shutdown(shutdown_since_ns_));
}

int FlowRecovery::check_shutdown(uint64_t now) {
    if (shutdown_since_ns_ == 0) return 0;
    int happened = 0;
    for (int path = 0; path < paths_.size(); ++path) {
        if (!paths_.has_unconfirmed(path)) continue;
        paths_.probe(path, now);
        happened += static_cast<int>(close_if_timed_out(path, now));
    }
    if (elapsed(now, shutdown_since_ns_) < limits_.partition_timeout_ns)
        return happened;                         // peers may have exited
    for (size_t i = 0; i < flows_.size(); ++i) { // events may add flows
        Flow& f = flows_[static_cast<Peer>(i)];
        if (f.failed) continue;
        if (!paths_.has_path(f.route)) f.due_ack = {}; // it cannot be sent
        if (f.out.window.empty() && f.out.chunked_sends.empty()) continue;
        fail(f);
        ++happened;
    }
    return happened;
}

} // namespace zipmpi::bridge
