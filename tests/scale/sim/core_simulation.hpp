// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the programs of all ranks on a virtual clock when the ranks of a node share few cores. A rank that
// waits yields some times, then sleeps until its message arrives, like proto::wait_until(). A core runs its
// ranks in the order in which they became ready. For messages that need no rendezvous.
#pragma once

#include "network_model.hpp"
#include "virtual_job.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>
#include <unordered_map>

namespace zipmpi::sim {

// CPU times in nanoseconds, fitted to jobs of 16 and 32 ranks on two cores (docs/performance/scale.md).
struct CoreModel {
    int cores = 2;  // of a node
    int calls = 20; // of the collective, one after the other
    int yields = 4; // of a rank that waits before it sleeps: wait.yields
    uint64_t seed = 1;
    double call = 1000;   // to begin and end a call
    double message = 250; // to send a message, and to receive it
    double wakeup = 2000; // to wake a rank that sleeps, at the sender
    // From one rank to another on a core, with a poll: more for each doubling of the ranks per core beyond
    // four, which displace each other's data from the caches.
    double least_change = 300;
    double change = 600;
    [[nodiscard]] double change_of(const JobShape& shape) const {
        const double ranks = static_cast<double>(shape.ranks_per_node) / cores;
        return std::max(least_change, change * (std::log2(ranks) - 2));
    }
};

struct CoreResult {
    double ns = 0;      // of a call
    double changes = 0; // of ranks on cores, in a call
    uint64_t unfinished = 0;
};

class CoreSimulation {
  public:
    CoreSimulation(const CoreModel& model, const NetworkModel& network, VirtualJob& job)
        : model_(model)
        , network_(network)
        , job_(job)
        , change_(model.change_of(job.shape()))
        , random_(model.seed) {}
    CoreResult run(const VirtualJob::Call& call);

  private:
    struct RankState {
        RankProgram program;
        size_t next = 0;
        int calls_left = 0;
        int yields_left = 0;
        int missing = 0;  // posted receives whose message has not arrived
        int received = 0; // receives since the last wait
        bool asleep = false;
        std::unordered_map<int, int> ahead; // by sender: messages that arrived minus receives posted
    };
    struct Host {
        std::vector<int> ready;
        int idle_cores = 0;
    };
    struct Event {
        double time;
        uint64_t number; // in order of creation
        int rank;        // that runs its next action, or to which a message arrives
        int sender;      // of the message; -1: none
        bool operator>(const Event& e) const { return time != e.time ? time > e.time : number > e.number; }
    };

    void add(double time, int rank, int sender = -1) { events_.push({time, ++events_made_, rank, sender}); }
    void step(int rank, double now);
    void wait(int rank, double now);
    void send(int rank, const Action& a, double now);
    // Returns true if it woke the receiver.
    bool arrive(int rank, int sender, double now);
    void leave_core(int rank, double now);
    void start(int rank, double now) {
        ++changes_;
        add(now + change_, rank);
    }
    int take_ready(Host& host);
    Host& host_of(int rank) { return hosts_[static_cast<size_t>(job_.shape().node_of(rank))]; }

    const CoreModel& model_;
    const NetworkModel& network_;
    VirtualJob& job_;
    double change_;
    std::mt19937_64 random_;
    std::vector<RankState> ranks_;
    std::vector<Host> hosts_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    uint64_t events_made_ = 0, changes_ = 0;
};

} // namespace zipmpi::sim
