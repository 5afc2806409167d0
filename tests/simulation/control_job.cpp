// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "control_job.hpp"

#include <algorithm>

namespace zipmpi::simulation {
namespace {

constexpr uint64_t fault_time = 100 * ms; // faults begin within it
constexpr uint64_t longest_stop = 2 * second;
constexpr uint64_t time_limit = 10 * second; // after the last fault
constexpr uint64_t step_limit = 1'000'000;

} // namespace

ControlJob::ControlJob(uint64_t seed, Trace trace)
    : simulator(seed, trace) {
    const auto nodes = static_cast<uint32_t>(simulator.between(1, 8));
    for (uint32_t node = 0; node < nodes; ++node) {
        plan_.hosts.push_back("node" + std::to_string(node));
        const uint64_t local = simulator.between(1, 3);
        for (uint32_t i = 0; i < local; ++i) {
            node_of_.push_back(node);
            local_of_.push_back(i);
        }
    }
    plan_.fanout = static_cast<uint32_t>(simulator.between(1, 3));
    for (uint32_t r = 0; r < node_of_.size(); ++r) ranks_.push_back(std::make_unique<ControlRank>(*this, r));
    daemons_.resize(nodes);
    make_tree(mpiexec, {0, nodes});
    sequencer_ = std::make_unique<launch::FaultSequencer>(size(), [this](const launch::JobEvent& e) {
        for (const TreeChildren::Child& c : top_.all())
            if (!c.finished) send(mpiexec, c.range.node, LinkFrame::event, launch::encode(e));
    });
}

void ControlJob::make_tree(uint32_t parent, launch::NodeRange nodes) {
    TreeChildren& children = parent == mpiexec ? top_ : daemons_[parent]->below();
    for (const launch::NodeRange& range : launch::child_ranges(plan_, nodes)) {
        daemons_[range.node] = std::make_unique<ControlDaemon>(*this, range, parent, children.children());
        children.add(range);
        if (range.end > range.node + 1) make_tree(range.node, {range.node + 1, range.end});
    }
}

std::vector<uint32_t> ControlJob::ranks_of(uint32_t node) const {
    std::vector<uint32_t> all;
    for (uint32_t r = 0; r < node_of_.size(); ++r)
        if (node_of_[r] == node) all.push_back(r);
    return all;
}

launch::RankRanges ControlJob::ranks_of(launch::NodeRange nodes) const {
    launch::RankRanges ranks;
    for (uint32_t r = 0; r < node_of_.size(); ++r)
        if (node_of_[r] >= nodes.node && node_of_[r] < nodes.end) ranks.add(r);
    return ranks;
}

uint64_t ControlJob::in_order(uint32_t from, uint32_t to, uint64_t delay) {
    uint64_t& last = last_due_[{from, to}];
    return last = std::max(last, simulator.now() + delay);
}

void ControlJob::send(uint32_t from, uint32_t to, LinkFrame type, const std::string& payload) {
    const uint64_t delay =
        simulator.chance(50) ? simulator.below(20 * ms) : simulator.between(20 * us, 300 * us);
    uint64_t due = in_order(from, to, delay);
    if (to == mpiexec) {
        simulator.at(
            due, [this, from, type, payload] { receive_in_mpiexec(top_.child_with(from), type, payload); });
        return;
    }
    due = last_due_[{from, to}] = std::max(due, daemons_[to]->stopped_until());
    simulator.at(due, [this, from, to, type, payload] {
        if (daemons_[to]->is_alive()) daemons_[to]->receive(from, type, payload);
    });
}

// In pieces of any length.
void ControlJob::send_to_daemon(uint32_t rank, const std::string& text) {
    ControlDaemon& daemon = *daemons_[node_of_[rank]];
    for (size_t at = 0; at < text.size();) {
        const size_t bytes =
            simulator.chance(700) ? text.size() - at : simulator.between(1, text.size() - at);
        uint64_t& last = last_due_[{mpiexec - 1 - rank, node_of_[rank]}];
        last =
            std::max({last, simulator.now() + simulator.between(5 * us, 100 * us), daemon.stopped_until()});
        simulator.at(last, [this, rank, &daemon, piece = text.substr(at, bytes)] {
            if (daemon.is_alive()) daemon.feed(local_of_[rank], piece);
        });
        at += bytes;
    }
}

void ControlJob::send_to_rank(uint32_t rank, const std::string& text, uint64_t not_before) {
    uint64_t& last = last_due_[{node_of_[rank], mpiexec - 1 - rank}];
    last = std::max({last, not_before, simulator.now() + simulator.between(5 * us, 100 * us)});
    simulator.at(last, [this, rank, text] { ranks_[rank]->receive(text); });
}

void ControlJob::receive_in_mpiexec(uint32_t child, LinkFrame type, const std::string& payload) {
    launch::JobEvent event;
    launch::RoutedMessage message;
    launch::RoutedMessage reply;
    switch (type) {
    case LinkFrame::fence_in:
        fence_.add_child(child, payload);
        return release_fence_if_complete();
    case LinkFrame::event:
        if (launch::decode(payload, event)) process_in_mpiexec(event);
        return;
    case LinkFrame::routed: {
        if (!launch::decode(payload, message)) return;
        const TreeChildren::Child& to = top_.all()[top_.child_with(message.to)];
        if (!to.finished) return send(mpiexec, to.range.node, type, payload);
        if (!launch::make_failed_reply(message, reply)) return;
        const TreeChildren::Child& back = top_.all()[top_.child_with(reply.to)];
        if (!back.finished) send(mpiexec, back.range.node, type, launch::encode(reply));
        return;
    }
    case LinkFrame::done:
        top_.all()[child].finished = true;
        return release_fence_if_complete();
    default:
        return;
    }
}

// Failures are announced after other events that mpiexec receives at about the same time.
void ControlJob::process_in_mpiexec(const launch::JobEvent& event) {
    sequencer_->process(event);
    if (std::exchange(is_announcing_, true)) return;
    simulator.after(simulator.below(500 * us), [this] {
        is_announcing_ = false;
        sequencer_->announce_failures();
    });
}

void ControlJob::release_fence_if_complete() {
    if (!fence_.any() || !fence_.has_all_children(top_)) return;
    const std::string pairs = fence_.take();
    for (const TreeChildren::Child& c : top_.all())
        if (!c.finished) send(mpiexec, c.range.node, LinkFrame::fence_out, pairs);
}

void ControlJob::kill_rank(uint32_t rank) {
    if (!ranks_[rank]->is_running()) return;
    simulator.print("kill of rank " + std::to_string(rank));
    ranks_[rank]->kill();
    report_exit(rank);
}

void ControlJob::report_exit(uint32_t rank) {
    ControlDaemon& daemon = *daemons_[node_of_[rank]];
    const uint64_t due = std::max({simulator.now() + simulator.between(100 * us, 5 * ms),
                                   daemon.stopped_until(), last_due_[{mpiexec - 1 - rank, node_of_[rank]}]});
    simulator.at(due, [this, rank, &daemon] {
        if (daemon.is_alive()) daemon.on_rank_exit(local_of_[rank]);
    });
}

// The host dies. Daemons below it lose their parent and end with their ranks.
void ControlJob::kill_node(uint32_t node) {
    ControlDaemon& daemon = *daemons_[node];
    if (!daemon.is_alive()) return;
    simulator.print("kill of node " + std::to_string(node));
    daemon.kill();
    for (const uint32_t rank : ranks_of(node)) ranks_[rank]->kill();
    for (const TreeChildren::Child& c : daemon.below().all())
        if (!c.finished)
            simulator.after(simulator.between(ms, 20 * ms),
                            [this, below = c.range.node] { kill_node(below); });
    const uint32_t parent = daemon.parent();
    const uint64_t noticed =
        in_order(node, parent, simulator.chance(700) ? simulator.between(us, 5 * ms) : 2 * second);
    simulator.at(noticed, [this, parent, child = daemon.number()] {
        if (parent != mpiexec) {
            if (daemons_[parent]->is_alive()) daemons_[parent]->on_child_failed(child);
            return;
        }
        TreeChildren::Child& c = top_.all()[child];
        if (std::exchange(c.finished, true)) return;
        launch::JobEvent e;
        e.ranks = ranks_of(c.range);
        process_in_mpiexec(e);
        release_fence_if_complete();
    });
}

void ControlJob::place_fault() {
    const auto rank = static_cast<uint32_t>(simulator.below(size()));
    const auto node = static_cast<uint32_t>(simulator.below(daemons_.size()));
    const uint64_t until = simulator.now() + simulator.between(ms, longest_stop);
    switch (simulator.below(4)) {
    case 0:
        return kill_rank(rank);
    case 1:
        return kill_node(node);
    case 2:
        simulator.print("stop of rank " + std::to_string(rank));
        return ranks_[rank]->stop_until(until);
    default:
        simulator.print("stop of the daemon of node " + std::to_string(node));
        return daemons_[node]->stop_until(until);
    }
}

bool ControlJob::is_in_job(uint32_t rank) const {
    for (uint32_t node = node_of_[rank]; node != mpiexec; node = daemons_[node]->parent())
        if (!daemons_[node]->is_alive()) return false;
    return ranks_[rank]->is_alive();
}

void ControlJob::check_fence(uint32_t rank, uint32_t fence) {
    for (uint32_t r = 0; r < size(); ++r)
        if (is_in_job(r) && !ranks_[r]->has_ended() && ranks_[r]->fences_entered() <= fence)
            simulator.fail("rank " + std::to_string(rank) + " has left a fence that rank " +
                           std::to_string(r) + " has not entered");
}

void ControlJob::check_decision(uint32_t number, const Decision& decision) {
    const auto [first, added] = decisions_.emplace(number, decision);
    if (!(first->second == decision)) simulator.fail("two ranks obtained different results of one agreement");
    if (!added) return;
    for (uint32_t r = 0; r < size(); ++r) {
        const bool contributed = contributed_[number].count(r) != 0;
        if (decision.failed.count(r) != 0) {
            if (is_in_job(r)) simulator.fail("rank " + std::to_string(r) + " counts as failed");
        } else if (!contributed) {
            simulator.fail("an agreement ended without rank " + std::to_string(r));
        } else if (is_in_job(r) && (decision.flags & 1U << r) != 0) {
            simulator.fail("the flags of rank " + std::to_string(r) + " are missing in an agreement");
        }
    }
}

std::string ControlJob::run() {
    faults_end_ = simulator.now() + fault_time + longest_stop;
    for (const auto& r : ranks_)
        simulator.after(simulator.below(5 * ms), [rank = r.get()] { rank->start(); });
    for (uint64_t n = simulator.below(6); n > 0; --n)
        simulator.after(simulator.below(simulator.chance(500) ? fault_time : 5 * ms),
                        [this] { place_fault(); });
    const auto running = [](const auto& r) { return r->is_running(); };
    while (simulator.violation().empty() && std::ranges::any_of(ranks_, running)) {
        if (simulator.step() && simulator.now() < faults_end_ + time_limit && simulator.steps() < step_limit)
            continue;
        std::string state;
        for (const auto& r : ranks_)
            if (r->is_running()) state += r->state();
        simulator.fail("ranks wait: " + state);
    }
    return simulator.violation();
}

} // namespace zipmpi::simulation
