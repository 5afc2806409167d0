// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core_simulation.hpp"

#include <utility>

namespace zipmpi::sim {

CoreResult CoreSimulation::run(const VirtualJob::Call& call) {
    const int n = job_.shape().ranks;
    ranks_.resize(static_cast<size_t>(n));
    hosts_.assign(static_cast<size_t>(job_.shape().nodes()), {{}, model_.cores});
    for (int r = 0; r < n; ++r) {
        RankMemory memory;
        RankState& state = ranks_[static_cast<size_t>(r)];
        state.program = job_.record(r, call, memory);
        state.program.push_back(Action()); // a call ends when its messages are complete
        state.calls_left = model_.calls;
        state.yields_left = model_.yields;
        host_of(r).ready.push_back(r);
    }
    for (Host& host : hosts_)
        for (; host.idle_cores > 0 && !host.ready.empty(); --host.idle_cores) start(take_ready(host), 0);
    double now = 0;
    while (!events_.empty()) {
        const Event e = events_.top();
        events_.pop();
        now = e.time;
        if (e.sender < 0)
            step(e.rank, now);
        else
            arrive(e.rank, e.sender, now);
    }
    CoreResult result{now / model_.calls, static_cast<double>(changes_) / model_.calls, 0};
    for (const RankState& r : ranks_) result.unfinished += r.calls_left > 0 ? 1 : 0;
    return result;
}

void CoreSimulation::step(int rank, double now) {
    RankState& r = ranks_[static_cast<size_t>(rank)];
    if (r.next == r.program.size()) {
        r.next = 0;
        if (--r.calls_left == 0) return leave_core(rank, now);
        return add(now + model_.call, rank);
    }
    const Action& a = r.program[r.next];
    if (a.kind == Action::Kind::wait) return wait(rank, now);
    ++r.next;
    switch (a.kind) {
    case Action::Kind::send:
        return send(rank, a, now);
    case Action::Kind::recv:
        ++r.received;
        if (--r.ahead[a.peer] < 0) ++r.missing;
        return add(now, rank);
    default:
        return add(now + static_cast<double>(a.bytes) * network_.node.byte, rank);
    }
}

void CoreSimulation::wait(int rank, double now) {
    RankState& r = ranks_[static_cast<size_t>(rank)];
    if (r.missing == 0) {
        ++r.next;
        r.yields_left = model_.yields;
        return add(now + model_.message * std::exchange(r.received, 0), rank);
    }
    if (r.yields_left-- > 0)
        host_of(rank).ready.push_back(rank);
    else
        r.asleep = true;
    leave_core(rank, now);
}

void CoreSimulation::leave_core(int rank, double now) {
    Host& host = host_of(rank);
    if (host.ready.empty()) {
        ++host.idle_cores;
        return;
    }
    start(take_ready(host), now);
}

int CoreSimulation::take_ready(Host& host) {
    std::swap(host.ready[random_() % host.ready.size()], host.ready.back());
    const int next = host.ready.back();
    host.ready.pop_back();
    return next;
}

// Within a node the receiver can see the message immediately.
void CoreSimulation::send(int rank, const Action& a, double now) {
    const bool same_node = job_.shape().node_of(rank) == job_.shape().node_of(a.peer);
    double done = now + model_.message;
    if (!same_node)
        add(done + network_.network.latency, a.peer, rank);
    else if (arrive(a.peer, rank, done))
        done += model_.wakeup;
    add(done, rank);
}

bool CoreSimulation::arrive(int rank, int sender, double now) {
    RankState& r = ranks_[static_cast<size_t>(rank)];
    if (++r.ahead[sender] <= 0) --r.missing;
    if (!r.asleep || r.missing > 0) return false;
    r.asleep = false;
    r.yields_left = model_.yields;
    Host& host = host_of(rank);
    if (host.idle_cores == 0) {
        host.ready.push_back(rank);
    } else {
        --host.idle_cores;
        start(rank, now);
    }
    return true;
}

} // namespace zipmpi::sim
