// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connection of the daemon to daemons of other hosts: keys, fences, heartbeats.
#include "boot/timeouts.hpp"
#include "launch/noded/daemon.hpp"

#include "os/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace zipmpi::launch {

bool Daemon::start_subtree(const std::string& payload, Diagnostic& why) {
    if (network_ && !request_.directory.empty() && chdir(request_.directory.c_str()) != 0) {
        why = {"the directory of the job cannot be entered on this host", "host " + host_,
               request_.directory + ": " + std::strerror(errno),
               "start mpiexec in a directory that exists on all hosts"};
        return false;
    }
    if (range_.end <= range_.node + 1) return true;
    if (range_.end > request_.tree.hosts.size()) {
        why = {"the node daemon could not read its start request", "host " + host_,
               "it has fewer hosts than nodes", "use mpiexec and its daemon from one installation of ZipMPI"};
        return false;
    }
    const bool started = subtree_.start_children(request_.tree, key_, {range_.node + 1, range_.end}, why);
    subtree_.mark_exempt_from_fence([this](NodeRange p) { return request_.map.has_ranks(p.node, p.end); });
    subtree_.send_all(ControlFrameType::start, payload);
    return started;
}

void Daemon::on_child_frame(uint32_t child, const ControlFrame& f) {
    switch (f.type) {
    case ControlFrameType::output:
    case ControlFrameType::failure:
    case ControlFrameType::snapshot:
    case ControlFrameType::placement_text:
    case ControlFrameType::job_event:
    case ControlFrameType::stdin_consumed:
    case ControlFrameType::stdin_closed:
    case ControlFrameType::exit_codes:
    case ControlFrameType::gateway_failed:
    case ControlFrameType::kernel_info:
        return parent_.send(f.type, f.payload);
    case ControlFrameType::fence_in:
        fence_.add_child(child, f.payload);
        return forward_fence();
    case ControlFrameType::pmix_fence_in:
        pmix_fence_.add_child(child, f.payload);
        return forward_pmix_fence();
    case ControlFrameType::ranks_finished:
        return ranks_finished_.add_child(child, {});
    case ControlFrameType::done:
        forward_fence();
        return forward_pmix_fence();
    case ControlFrameType::routed:
        return route(f);
    default:
        return;
    }
}

void Daemon::on_child_failed(uint32_t child, bool was_connected, const Diagnostic& why) {
    if (failed_ || interrupted_ || phase_ >= Phase::terminating) return;
    if (request_.keep_going && was_connected) {
        report_failed_nodes(subtree_.range(child), why);
        forward_fence();
        return forward_pmix_fence();
    }
    fail(0, 1, format(with_outcome(why, "the job was terminated"), "mpiexec"), true);
}

// On its own host mpiexec gets such signals.
Diagnostic Daemon::describe_daemon_signal(int signal) const {
    return {"the node daemon was terminated by " + signal_name(signal) + "; the job was terminated",
            "host " + host_,
            "a process sent this signal to it or killed its guard, for example the batch system on that host",
            "check the job's limits on that host, or which process sent the signal"};
}

segment::NodeTable Daemon::node_table() const {
    segment::NodeTable nodes;
    if (is_single_node()) return nodes;
    for (const NodeRun& run : dense_map_.runs())
        nodes.node_of.insert(nodes.node_of.end(), run.ranks, run.node);
    const std::vector<uint32_t> used = request_.map.nodes();
    nodes.count = static_cast<uint32_t>(used.size());
    const auto own = std::find(used.begin(), used.end(), range_.node);
    nodes.own = own != used.end() ? static_cast<uint32_t>(own - used.begin()) : 0;
    nodes.key = key_;
    return nodes;
}

PmiServer::RemoteNodes Daemon::make_remote_nodes() {
    if (is_single_node()) return {};
    PmiServer::RemoteNodes remote;
    remote.fence = [this](const std::string& pairs) {
        fence_.add_local(pairs);
        forward_fence();
    };
    remote.get = [this](uint32_t owner, const std::string& key) {
        const uint32_t node = owner < request_.world_size
                                  ? request_.map.node_of(owner)
                                  : request_.gateway_nodes[owner - request_.world_size];
        if (node == range_.node) return false;
        route({ControlFrameType::routed,
               encode(RoutedMessage{RoutedMessage::Kind::get_key, range_.node, node, key, false, {}})});
        return true;
    };
    remote.reply = [this](uint32_t node, const std::string& key, const std::string* value) {
        RoutedMessage reply{RoutedMessage::Kind::key_reply, range_.node, node, key, value != nullptr, {}};
        if (value != nullptr) reply.value = *value;
        route({ControlFrameType::routed, encode(reply)});
    };
    return remote;
}

void Daemon::forward_fence() {
    const bool own = fence_.has_local() || (fence_.any() && pmi_ && pmi_->node_in_fence());
    if (own && fence_.has_all_children(subtree_)) parent_.send(ControlFrameType::fence_in, fence_.take());
}

void Daemon::route(const ControlFrame& f) {
    RoutedMessage m;
    if (!decode(f.payload, m)) return;
    if (m.to == range_.node) return on_routed(m);
    if (subtree_.has_failed(m.to)) {
        RoutedMessage reply;
        if (make_failed_reply(m, reply)) route({ControlFrameType::routed, encode(reply)});
        return;
    }
    if (!subtree_.send_to_node(m.to, ControlFrameType::routed, f.payload))
        parent_.send(ControlFrameType::routed, f.payload);
}

void Daemon::on_routed(const RoutedMessage& m) {
    if (m.kind == RoutedMessage::Kind::get_modex || m.kind == RoutedMessage::Kind::modex_reply)
        return on_modex(m);
    if (!pmi_) return;
    if (m.kind == RoutedMessage::Kind::key_reply) return pmi_->on_remote_reply(m.key, m.found, m.value);
    pmi_->on_remote_get(m.from, m.key);
}

// Sends heartbeats; a heartbeat timeout of the parent ends the job on this node.
void Daemon::check_parent() {
    const uint64_t now = os::now_ns();
    if (now < heartbeat_at_) return;
    const bool late = now > heartbeat_at_ + heartbeat_interval_ns; // this process was stopped
    heartbeat_at_ = now + heartbeat_interval_ns;
    parent_.send(ControlFrameType::heartbeat);
    if (late || parent_suspended_) parent_last_received_ = now;
    if (now - parent_last_received_ >= boot::heartbeat_timeout_ns()) parent_disconnected_ = true;
}

} // namespace zipmpi::launch
