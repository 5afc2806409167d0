// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "network_simulation.hpp"

#include <algorithm>

namespace zipmpi::sim {

SimulationResult NetworkSimulation::run(const VirtualJob::Call& call) {
    const auto n = static_cast<size_t>(job_.shape().ranks);
    result_ = {};
    channels_.clear();
    ranks_.clear();
    ranks_.resize(n);
    for (size_t r = 0; r < n; ++r) {
        RankMemory memory;
        ranks_[r].program = job_.record(static_cast<int>(r), call, memory);
        ranks_[r].program.push_back(Action()); // a schedule ends when its messages are complete
        result_.memory.hierarchy = std::max(result_.memory.hierarchy, memory.hierarchy);
        result_.memory.schedule = std::max(result_.memory.schedule, memory.schedule);
    }
    for (size_t r = 0; r < n; ++r) {
        ready_.push_back(static_cast<int>(r));
        while (!ready_.empty()) {
            const int next = ready_.back();
            ready_.pop_back();
            advance(next);
        }
    }
    for (const RankState& r : ranks_) {
        result_.ns = std::max(result_.ns, r.clock);
        result_.unfinished += r.next < r.program.size() ? 1 : 0;
    }
    return result_;
}

void NetworkSimulation::advance(int rank) {
    RankState& r = ranks_[static_cast<size_t>(rank)];
    while (r.next < r.program.size()) {
        const Action& a = r.program[r.next];
        if (a.kind == Action::Kind::wait && r.pending != 0) return; // the last message makes it ready
        ++r.next;
        switch (a.kind) {
        case Action::Kind::send:
            send(rank, a);
            break;
        case Action::Kind::recv:
            receive(rank, a);
            break;
        case Action::Kind::copy:
            r.clock += static_cast<double>(a.bytes) * model_.node.byte;
            break;
        case Action::Kind::combine:
            r.clock += static_cast<double>(a.bytes) * model_.combine;
            break;
        case Action::Kind::wait:
            finish_wait(r);
            break;
        }
    }
    RankProgram().swap(r.program); // frees its memory
    r.next = 0;
}

// The rank handles the messages in order of their arrival.
void NetworkSimulation::finish_wait(RankState& r) {
    std::sort(r.arrivals.begin(), r.arrivals.end());
    for (const double arrival : r.arrivals) r.clock = std::max(r.clock, arrival) + model_.node.overhead;
    r.clock = std::max(r.clock, r.sends_done);
    r.arrivals.clear();
    r.sends_done = 0;
}

void NetworkSimulation::send(int rank, const Action& a) {
    RankState& r = ranks_[static_cast<size_t>(rank)];
    const LinkCosts& costs = link(rank, a.peer);
    ++result_.messages;
    result_.messages_between_nodes += &costs != &model_.node ? 1 : 0;
    result_.intercluster_messages += &costs == &model_.clusters ? 1 : 0;
    result_.bytes += a.bytes;
    r.clock += costs.overhead;
    const double leaves = std::max(r.clock, r.sender_free);
    r.sender_free = leaves + std::max(costs.gap, static_cast<double>(a.bytes) * costs.byte);
    const double noise = model_.noise == 0 ? 0
                                           : model_.noise * costs.latency *
                                                 model_.random(key(rank, static_cast<int>(r.sent++)));
    const Posted posted{leaves, a.bytes, noise};
    ++r.pending;
    if (a.bytes <= costs.eager_limit) end_message(rank); // it is complete here
    Posted receive{};
    if (take_counterpart(key(rank, a.peer), a.kind, posted, receive)) match(rank, a.peer, posted, receive);
}

void NetworkSimulation::receive(int rank, const Action& a) {
    RankState& r = ranks_[static_cast<size_t>(rank)];
    const Posted posted{r.clock, a.bytes, 0};
    ++r.pending;
    Posted sent{};
    if (take_counterpart(key(a.peer, rank), a.kind, posted, sent)) match(a.peer, rank, sent, posted);
}

bool NetworkSimulation::take_counterpart(uint64_t channel, Action::Kind kind, const Posted& posted,
                                         Posted& counterpart) {
    Channel& c = channels_[channel];
    if (c.waiting.empty() || c.kind == kind) {
        c.kind = kind;
        c.waiting.push_back(posted);
        return false;
    }
    counterpart = c.waiting.front();
    c.waiting.erase(c.waiting.begin());
    if (c.waiting.empty()) channels_.erase(channel);
    return true;
}

// An eager message arrives after the latency. Above the limit the sender announces it, and the data follows
// when the receiver has asked for it.
void NetworkSimulation::match(int from, int to, const Posted& send, const Posted& receive) {
    const LinkCosts& costs = link(from, to);
    const double transfer = static_cast<double>(send.bytes) * costs.byte;
    const double announced = send.time + costs.latency + send.noise;
    RankState& target = ranks_[static_cast<size_t>(to)];
    if (send.bytes <= costs.eager_limit) {
        target.arrivals.push_back(announced + transfer);
    } else {
        const double asked = std::max(announced, receive.time) + costs.latency;
        RankState& source = ranks_[static_cast<size_t>(from)];
        source.sends_done = std::max(source.sends_done, asked + transfer);
        target.arrivals.push_back(asked + costs.latency + transfer);
        end_message(from);
    }
    end_message(to);
}

void NetworkSimulation::end_message(int rank) {
    RankState& r = ranks_[static_cast<size_t>(rank)];
    // The rank that is being simulated goes on by itself.
    if (--r.pending == 0 && r.next < r.program.size() && r.program[r.next].kind == Action::Kind::wait)
        ready_.push_back(rank);
}

} // namespace zipmpi::sim
