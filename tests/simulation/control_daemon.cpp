// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A daemon as launch/noded connects its parts, without descriptors.
#include "control_job.hpp"

#include <algorithm>
#include <cstdlib>

namespace zipmpi::simulation {
namespace {

using launch::JobEvent;
using launch::RoutedMessage;

uint32_t number_of(const launch::PmiMessage& m, std::string_view name) {
    return static_cast<uint32_t>(std::strtoul(std::string(m.get(name)).c_str(), nullptr, 10));
}

} // namespace

uint32_t TreeChildren::child_with(uint32_t node) const {
    const auto found = std::ranges::find_if(
        all_, [&](const Child& c) { return node >= c.range.node && node < c.range.end; });
    return found != all_.end() ? static_cast<uint32_t>(found - all_.begin()) : UINT32_MAX;
}

ControlDaemon::ControlDaemon(ControlJob& job, launch::NodeRange range, uint32_t parent, uint32_t number)
    : job_(job)
    , range_(range)
    , parent_(parent)
    , number_(number)
    , local_ranks_(job.ranks_of(range.node))
    , fence_(below_)
    , gather_([this] { return job_.ranks_of(range_); },
              [this](const JobEvent& e) { send_up(LinkFrame::event, launch::encode(e)); }) {
    fence_.set_send([this](const std::string& pairs) { send_up(LinkFrame::fence_in, pairs); });
    fence_.set_local_exempt([this] { return pmi_->node_in_fence(); });
    pmi_ = std::make_unique<launch::PmiServer>(
        launch::PmiServer::PmiJob{"simulated",
                                  job.size(),
                                  0,
                                  job.size(),
                                  std::vector<uint32_t>(local_ranks_.size(), 0),
                                  local_ranks_,
                                  {}},
        [this](uint32_t local, std::string_view bytes) {
            job_.send_to_rank(local_ranks_[local], std::string(bytes), 0);
        },
        [](uint32_t, int, std::string_view) {}, make_remote_nodes());
    pmi_->set_notify_handler([this](uint32_t local, const launch::PmiMessage& m) { on_notify(local, m); });
}

launch::PmiServer::RemoteNodes ControlDaemon::make_remote_nodes() {
    launch::PmiServer::RemoteNodes remote;
    remote.fence = [this](const std::string& pairs) { fence_.enter(pairs); };
    remote.get = [this](uint32_t owner, const std::string& key) {
        const uint32_t node = job_.node_of(owner);
        if (node == range_.node) return false;
        route({RoutedMessage::Kind::get_key, range_.node, node, key, false, {}});
        return true;
    };
    remote.reply = [this](uint32_t node, const std::string& key, const std::string* value) {
        route({RoutedMessage::Kind::key_reply, range_.node, node, key, value != nullptr,
               value != nullptr ? *value : std::string()});
    };
    remote.absent = [this] { fence_.forward_if_complete(); };
    return remote;
}

void ControlDaemon::feed(uint32_t local, std::string_view bytes) { pmi_->feed(local, bytes); }

void ControlDaemon::send_up(LinkFrame type, const std::string& payload) {
    job_.send(range_.node, parent_, type, payload);
}

void ControlDaemon::send_down(LinkFrame type, const std::string& payload) {
    for (const TreeChildren::Child& c : below_.all())
        if (!c.finished) job_.send(range_.node, c.range.node, type, payload);
}

void ControlDaemon::receive(uint32_t from, LinkFrame type, const std::string& payload) {
    const uint32_t child = from == parent_ ? UINT32_MAX : below_.child_with(from);
    JobEvent event;
    RoutedMessage message;
    switch (type) {
    case LinkFrame::fence_in:
        return fence_.add_child(child, payload);
    case LinkFrame::fence_out:
        send_down(type, payload);
        return pmi_->fence_done(payload);
    case LinkFrame::routed:
        if (launch::decode(payload, message)) route(message);
        return;
    case LinkFrame::event:
        if (!launch::decode(payload, event)) return;
        if (child != UINT32_MAX) return gather_.process(event);
        send_down(type, payload);
        return on_event(event);
    case LinkFrame::done:
        below_.all()[child].finished = true;
        fence_.forward_if_complete();
        return end_if_finished();
    }
}

void ControlDaemon::route(const RoutedMessage& m) {
    if (m.to == range_.node) {
        if (m.kind == RoutedMessage::Kind::key_reply) return pmi_->on_remote_reply(m.key, m.found, m.value);
        return pmi_->on_remote_get(m.from, m.key);
    }
    const uint32_t child = below_.child_with(m.to);
    if (child == UINT32_MAX) return send_up(LinkFrame::routed, launch::encode(m));
    RoutedMessage reply;
    if (!below_.all()[child].finished)
        job_.send(range_.node, below_.all()[child].range.node, LinkFrame::routed, launch::encode(m));
    else if (launch::make_failed_reply(m, reply))
        route(reply);
}

void ControlDaemon::on_notify(uint32_t local, const launch::PmiMessage& m) {
    JobEvent e;
    e.kind = JobEvent::Kind::agreement;
    const uint32_t rank = local_ranks_[local];
    e.ranks.add(rank);
    e.context = number_of(m, "context");
    e.number = number_of(m, "number");
    e.flags = number_of(m, "flags");
    e.value = number_of(m, "value");
    if (!launch::RankRanges::parse(m.get("members"), e.members)) return;
    waiters_[e.number].push_back(rank);
    gather_.process(e);
}

void ControlDaemon::on_event(const JobEvent& e) {
    if (e.kind == JobEvent::Kind::failed) {
        return e.ranks.for_each([this](uint32_t rank) {
            failed_.push_back(rank);
            pmi_->owner_failed(rank);
        });
    }
    gather_.remove(e.context, e.number);
    Decision decision{e.flags, e.value, {}};
    for (uint32_t i = 0; i < e.failed && i < failed_.size(); ++i) decision.failed.insert(failed_[i]);
    if (decision.failed.size() != e.failed)
        job_.simulator.fail("a result counts failures that were not announced before");
    for (const uint32_t rank : waiters_[e.number]) job_.rank(rank).decided(e.number, decision);
    waiters_.erase(e.number);
}

void ControlDaemon::on_rank_exit(uint32_t local) {
    if (!job_.rank(local_ranks_[local]).has_ended())
        report_failed({local_ranks_[local], local_ranks_[local]});
    pmi_->rank_ended(local);
    ++exited_;
    end_if_finished();
}

void ControlDaemon::report_failed(const launch::RankRanges& ranks) {
    JobEvent e;
    e.kind = JobEvent::Kind::failed;
    e.ranks = ranks;
    gather_.process(e);
}

void ControlDaemon::on_child_failed(uint32_t child) {
    TreeChildren::Child& c = below_.all()[child];
    if (std::exchange(c.finished, true)) return;
    report_failed(job_.ranks_of(c.range));
    fence_.forward_if_complete();
    end_if_finished();
}

void ControlDaemon::end_if_finished() {
    const bool children_left =
        std::ranges::any_of(below_.all(), [](const TreeChildren::Child& c) { return !c.finished; });
    if (!alive_ || exited_ < local_ranks_.size() || children_left) return;
    send_up(LinkFrame::done, {});
    alive_ = false;
}

} // namespace zipmpi::simulation
