// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/tree_relay.hpp"

#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <unistd.h>

namespace zipmpi::launch {

TreeRelay::TreeRelay(const NodeJob& job, EventLoop& loop, ParentLink& parent, Handlers handlers)
    : job_(job)
    , parent_(parent)
    , handlers_(std::move(handlers))
    , subtree_([this](uint32_t child, const ControlFrame& f) { on_child_frame(child, f); },
               handlers_.child_failed)
    , pmi_fence_(subtree_)
    , pmix_fence_(subtree_) {
    pmi_fence_.set_send(
        [this](const std::string& pairs) { parent_.send(ControlFrameType::fence_in, pairs); });
    pmix_fence_.set_send(
        [this](const std::string& data) { parent_.send(ControlFrameType::pmix_fence_in, data); });
    loop.watch(subtree_.fd(), EPOLLIN, loop.add_source([this](uint32_t, uint32_t) { subtree_.serve(); }));
}

bool TreeRelay::start(Diagnostic& why) {
    const StartRequest& request = job_.request();
    const NodeRange range = job_.range();
    if (job_.is_networked() && !request.directory.empty() && chdir(request.directory.c_str()) != 0) {
        why = {"the directory of the job cannot be entered on this host", "host " + job_.host(),
               request.directory + ": " + std::strerror(errno),
               "start mpiexec in a directory that exists on all hosts"};
        return false;
    }
    const bool is_alone = request.tree.nodes() == 0 && range.end <= range.node + 1;
    if (!is_alone && !request.tree.has_hosts(range.node, range.end)) {
        why = {"the node daemon could not read its start request", "host " + job_.host(),
               "it has fewer hosts than nodes", "use mpiexec and its daemon from one installation of ZipMPI"};
        return false;
    }
    if (range.end <= range.node + 1) return true;
    const bool started =
        subtree_.start_children(request.tree, job_.secret(), {range.node + 1, range.end}, why);
    subtree_.send_start(request);
    return started;
}

void TreeRelay::on_child_frame(uint32_t child, const ControlFrame& f) {
    switch (f.type) {
    case ControlFrameType::output:
    case ControlFrameType::failure:
    case ControlFrameType::snapshot:
    case ControlFrameType::placement_text:
    case ControlFrameType::stdin_consumed:
    case ControlFrameType::stdin_closed:
    case ControlFrameType::exit_codes:
    case ControlFrameType::gateway_failed:
    case ControlFrameType::kernel_info:
    case ControlFrameType::rank_pids:
    case ControlFrameType::stacks:
    case ControlFrameType::view:
        return parent_.send(f.type, f.payload);
    case ControlFrameType::job_event: {
        JobEvent e;
        if (decode(f.payload, e)) handlers_.job_event(e);
        return;
    }
    case ControlFrameType::fence_in:
        return pmi_fence_.add_child(child, f.payload);
    case ControlFrameType::pmix_fence_in:
        return pmix_fence_.add_child(child, f.payload);
    case ControlFrameType::ranks_finished:
        return ranks_finished_.add_child(child, {});
    case ControlFrameType::done:
        return forward_fences();
    case ControlFrameType::routed:
        return route(f.payload);
    default:
        return;
    }
}

void TreeRelay::forward_fences() {
    pmi_fence_.forward_if_complete();
    pmix_fence_.forward_if_complete();
}

void TreeRelay::route(const std::string& routed_message) {
    RoutedMessage m;
    if (!decode(routed_message, m)) return;
    if (m.to == job_.node()) return handlers_.deliver(m);
    if (subtree_.has_failed(m.to)) {
        RoutedMessage reply;
        if (make_failed_reply(m, reply)) send(reply);
        return;
    }
    if (!subtree_.send_to_node(m.to, ControlFrameType::routed, routed_message))
        parent_.send(ControlFrameType::routed, routed_message);
}

void TreeRelay::report_ranks_finished() {
    if (ranks_finished_sent_ || !ranks_finished_.has_all_children(subtree_)) return;
    ranks_finished_sent_ = true;
    parent_.send(ControlFrameType::ranks_finished);
}

} // namespace zipmpi::launch
