// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The daemon among the daemons of other hosts.
#include "boot/limits.hpp"
#include "launch/noded/daemon.hpp"

#include "os/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace zipmpi::launch {

bool Daemon::start_others(const std::string& payload, Problem& why) {
    if (network_ && !request_.directory.empty() && chdir(request_.directory.c_str()) != 0) {
        why = {"the directory of the job cannot be entered on this host", "host " + host_,
               request_.directory + ": " + std::strerror(errno),
               "start mpiexec in a directory that all hosts have"};
        return false;
    }
    if (place_.end <= place_.node + 1) return true;
    if (place_.end > request_.tree.hosts.size()) {
        why = {"the node daemon could not read its start request", "host " + host_,
               "it names fewer hosts than there are nodes",
               "use mpiexec and its daemon from one installation of ZipMPI"};
        return false;
    }
    const bool grown = below_.grow(request_.tree, key_, {place_.node + 1, place_.end}, why);
    below_.mark_quiet([this](NodePlace p) { return request_.map.has_ranks(p.node, p.end); });
    below_.send_all(FrameType::start, payload);
    return grown;
}

void Daemon::on_child_frame(uint32_t child, const Frame& f) {
    switch (f.type) {
    case FrameType::output:
    case FrameType::failure:
    case FrameType::snapshot:
    case FrameType::picture:
    case FrameType::event:
    case FrameType::stdin_taken:
    case FrameType::stdin_closed:
    case FrameType::exit_codes:
    case FrameType::gateway_lost:
    case FrameType::kernel:
        return channel_.send(f.type, f.payload);
    case FrameType::fence_in:
        fence_.add_child(child, f.payload);
        return pass_fence_on();
    case FrameType::pmix_fence_in:
        pmix_fence_.add_child(child, f.payload);
        return pass_pmix_fence_on();
    case FrameType::ranks_over:
        return ranks_over_.add_child(child, {});
    case FrameType::done:
        pass_fence_on();
        return pass_pmix_fence_on();
    case FrameType::routed:
        return route(f);
    default:
        return;
    }
}

void Daemon::on_child_lost(uint32_t child, bool had_come, const Problem& why) {
    if (failed_ || interrupted_ || phase_ >= Phase::ending) return;
    if (request_.keep_going && had_come) {
        on_child_nodes_lost(below_.place(child), why);
        pass_fence_on();
        return pass_pmix_fence_on();
    }
    fail(0, 1, format(with_outcome(why, "the job was ended"), "mpiexec"), true);
}

// On mpiexec's own host mpiexec gets such signals itself.
Problem Daemon::describe_ended_daemon(int signal) const {
    return {"the node daemon was asked to end by " + signal_name(signal) + "; the job was ended",
            "host " + host_,
            "somebody sent this signal to it or killed its guard, for example the batch system on that host",
            "check the job's limits on that host, or who sent it"};
}

boot::Nodes Daemon::nodes_of_the_job() const {
    boot::Nodes nodes;
    if (alone()) return nodes;
    for (const NodeRun& run : seen_map_.runs())
        nodes.node_of.insert(nodes.node_of.end(), run.ranks, run.node);
    const std::vector<uint32_t> used = request_.map.nodes();
    nodes.count = static_cast<uint32_t>(used.size());
    const auto own = std::find(used.begin(), used.end(), place_.node);
    nodes.own = own != used.end() ? static_cast<uint32_t>(own - used.begin()) : 0;
    nodes.key = key_;
    return nodes;
}

PmiServer::Others Daemon::pmi_others() {
    if (alone()) return {};
    PmiServer::Others others;
    others.fence = [this](const std::string& pairs) {
        fence_.add_own(pairs);
        pass_fence_on();
    };
    others.ask = [this](uint32_t owner, const std::string& key) {
        const uint32_t node = owner < request_.world_size
                                  ? request_.map.node_of(owner)
                                  : request_.gateway_nodes[owner - request_.world_size];
        if (node == place_.node) return false;
        route({FrameType::routed, encode(Routed{Routed::Kind::ask_key, place_.node, node, key, false, {}})});
        return true;
    };
    others.answer = [this](uint32_t node, const std::string& key, const std::string* value) {
        Routed answer{Routed::Kind::key, place_.node, node, key, value != nullptr, {}};
        if (value != nullptr) answer.value = *value;
        route({FrameType::routed, encode(answer)});
    };
    return others;
}

void Daemon::pass_fence_on() {
    const bool own = fence_.has_own() || (fence_.any() && pmi_ && pmi_->node_in_fence());
    if (own && fence_.all_below(below_)) channel_.send(FrameType::fence_in, fence_.take());
}

void Daemon::route(const Frame& f) {
    Routed m;
    if (!decode(f.payload, m)) return;
    if (m.to == place_.node) return on_routed(m);
    if (below_.has_lost(m.to)) {
        Routed answer;
        if (answer_for_lost(m, answer)) route({FrameType::routed, encode(answer)});
        return;
    }
    if (!below_.send_to_node(m.to, FrameType::routed, f.payload)) channel_.send(FrameType::routed, f.payload);
}

void Daemon::on_routed(const Routed& m) {
    if (m.kind == Routed::Kind::ask_modex || m.kind == Routed::Kind::modex) return on_modex(m);
    if (!pmi_) return;
    if (m.kind == Routed::Kind::key) return pmi_->answered(m.key, m.found, m.value);
    pmi_->asked(m.from, m.key);
}

// Beats, and what silence of the parent means: the job is lost to us.
void Daemon::watch_parent() {
    const uint64_t now = os::now_ns();
    if (now < beat_at_) return;
    const bool late = now > beat_at_ + beat_interval_ns; // we were stopped ourselves
    beat_at_ = now + beat_interval_ns;
    channel_.send(FrameType::beat);
    if (late || parent_sleeps_) parent_heard_ = now;
    if (now - parent_heard_ >= boot::silence_limit_ns()) front_gone_ = true;
}

} // namespace zipmpi::launch
