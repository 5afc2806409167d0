// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the programs of all ranks on a virtual clock. Every receive names its sender, and messages between two
// ranks stay in order, so the result does not depend on the order in which ranks are simulated.
//
// Not modeled: contention between senders, in the network and at the network device of a node.
#pragma once

#include "network_model.hpp"
#include "rank_program.hpp"
#include "virtual_job.hpp"

#include <unordered_map>

namespace zipmpi::sim {

struct SimulationResult {
    double ns = 0; // until the last rank has finished
    uint64_t messages = 0;
    uint64_t messages_between_nodes = 0; // and clusters
    uint64_t intercluster_messages = 0;
    uint64_t bytes = 0;
    uint64_t unfinished = 0; // ranks that wait indefinitely: an error of the schedules
    RankMemory memory;       // of the rank that needs most
};

class NetworkSimulation {
  public:
    NetworkSimulation(const NetworkModel& model, VirtualJob& job)
        : model_(model)
        , job_(job) {}
    SimulationResult run(const VirtualJob::Call& call);

  private:
    struct RankState {
        RankProgram program;
        size_t next = 0;
        double clock = 0;
        double sender_free = 0; // when the next message may leave
        double sends_done = 0;  // end of the sends since the last wait
        uint32_t pending = 0;   // messages since the last wait whose end is not known
        uint32_t sent = 0;
        std::vector<double> arrivals; // of receives since the last wait
    };
    struct Posted {
        double time;
        uint64_t bytes;
        double noise; // additional latency
    };
    // From one rank to another: sends without receives, or receives without sends.
    struct Channel {
        std::vector<Posted> waiting;
        Action::Kind kind = Action::Kind::send;
    };

    void advance(int rank);
    void finish_wait(RankState& r);
    void send(int rank, const Action& a);
    void receive(int rank, const Action& a);
    // The first waiting counterpart of a message that is posted; otherwise the message waits.
    bool take_counterpart(uint64_t channel, Action::Kind kind, const Posted& posted, Posted& counterpart);
    void match(int from, int to, const Posted& send, const Posted& receive);
    void end_message(int rank);
    [[nodiscard]] const LinkCosts& link(int a, int b) const {
        if (job_.shape().node_of(a) == job_.shape().node_of(b)) return model_.node;
        return job_.shape().cluster_of(a) == job_.shape().cluster_of(b) ? model_.network : model_.clusters;
    }
    static uint64_t key(int from, int to) {
        return uint64_t{static_cast<uint32_t>(from)} << 32U | static_cast<uint32_t>(to);
    }

    const NetworkModel& model_;
    VirtualJob& job_;
    std::vector<RankState> ranks_;
    std::vector<int> ready_;
    std::unordered_map<uint64_t, Channel> channels_;
    SimulationResult result_;
};

} // namespace zipmpi::sim
