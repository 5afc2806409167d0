// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: simgrid_comparison OPERATION RANKS    (OPERATION as of simulate, with messages up to the eager
// limit) Runs the schedules of a job with one rank per node by SimGrid and by NetworkSimulation. Prints both
// times in us; status 1 if they differ by more than 1 ns. SimGrid has contention, the simulation has none:
// they agree for algorithms in which each link carries one message at a time.
//
// In SimGrid each rank is an actor, on a host with a full-duplex link of half the latency; the links form a
// star. The overheads are sleeps of the sender and the receiver.
#include "network_simulation.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>
#include <xbt/log.h>

using namespace zipmpi::sim;
namespace s4u = simgrid::s4u;

namespace {

constexpr double second = 1e9; // in ns
constexpr double tolerated_us = 0.001;

VirtualJob::Call call_named(const std::string& operation) {
    const size_t colon = operation.find(':');
    const std::string name = operation.substr(0, colon);
    const size_t bytes = colon == std::string::npos ? 0 : std::strtoull(&operation[colon + 1], nullptr, 10);
    if (name == "barrier") return make_barrier();
    if (name == "broadcast") return make_broadcast(bytes);
    if (name == "allreduce") return make_allreduce(bytes);
    return {};
}

class Rank {
  public:
    Rank(int rank, const RankProgram& program, const NetworkModel& model)
        : rank_(rank)
        , program_(program)
        , model_(model) {}

    void operator()() {
        for (const Action& a : program_)
            if (a.kind == Action::Kind::send || a.kind == Action::Kind::recv) post_mailbox(a);
        for (const Action& a : program_) execute(a);
        finish_wait();
    }

  private:
    static s4u::Mailbox* mailbox(int from, int to) {
        return s4u::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to));
    }
    // With a known receiver a message leaves when it is sent, not when it is asked for.
    void post_mailbox(const Action& a) const {
        if (a.kind == Action::Kind::recv) mailbox(a.peer, rank_)->set_receiver(s4u::Actor::self());
    }
    void execute(const Action& a) {
        switch (a.kind) {
        case Action::Kind::send:
            s4u::this_actor::sleep_for(model_.network.overhead / second);
            mailbox(rank_, a.peer)->put_init(&sent_, a.bytes)->detach();
            break;
        case Action::Kind::recv:
            pending_.push_back(mailbox(a.peer, rank_)->get_async<char>(&received_));
            break;
        case Action::Kind::copy:
            s4u::this_actor::sleep_for(a.bytes * model_.node.byte / second);
            break;
        case Action::Kind::combine:
            s4u::this_actor::sleep_for(a.bytes * model_.combine / second);
            break;
        case Action::Kind::wait:
            finish_wait();
            break;
        }
    }
    void finish_wait() {
        while (!pending_.empty()) {
            const ssize_t done = s4u::Comm::wait_any(pending_);
            pending_.erase(pending_.begin() + done);
            s4u::this_actor::sleep_for(model_.node.overhead / second);
        }
    }

    int rank_;
    const RankProgram& program_;
    const NetworkModel& model_;
    char sent_ = 0;
    char* received_ = nullptr;
    std::vector<s4u::CommPtr> pending_;
};

std::vector<s4u::Host*> make_hosts(int count, const LinkCosts& costs) {
    s4u::NetZone* const star = s4u::create_star_zone("star");
    std::vector<s4u::Host*> hosts;
    for (int i = 0; i < count; ++i) {
        s4u::Host* const host = star->create_host("host" + std::to_string(i), 1e9);
        s4u::SplitDuplexLink* const link =
            star->create_split_duplex_link("link" + std::to_string(i), second / costs.byte);
        link->set_latency(costs.latency / 2 / second)->seal();
        star->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                        {{link, s4u::LinkInRoute::Direction::UP}}, true);
        hosts.push_back(host);
    }
    star->seal();
    return hosts;
}

double time_by_simgrid(s4u::Engine& engine, const NetworkModel& model,
                       const std::vector<RankProgram>& programs) {
    const std::vector<s4u::Host*> hosts = make_hosts(static_cast<int>(programs.size()), model.network);
    for (size_t r = 0; r < programs.size(); ++r)
        s4u::Actor::create("rank", hosts[r], Rank(static_cast<int>(r), programs[r], model));
    engine.run();
    return s4u::Engine::get_clock() * 1e6;
}

} // namespace

int main(int argc, char** argv) {
    s4u::Engine engine(&argc, argv); // removes its own arguments
    xbt_log_control_set("xbt_cfg.thres:warning");
    for (const char* const setting :
         {"network/model:CM02", "network/latency-factor:1", "network/bandwidth-factor:1",
          "network/weight-S:0", "network/TCP-gamma:0", "network/crosstraffic:0", "surf/precision:1e-12",
          "contexts/stack-size:64"})
        s4u::Engine::set_config(setting);
    const VirtualJob::Call call = argc == 3 ? call_named(argv[1]) : VirtualJob::Call();
    if (!call) {
        std::fputs("usage: simgrid_comparison OPERATION RANKS\n", stderr);
        return 2;
    }
    const JobShape shape{std::atoi(argv[2]), 1, true};
    const NetworkModel model = NetworkModel::from_parameters();
    VirtualJob job(shape);
    std::vector<RankProgram> programs;
    RankMemory memory;
    for (int r = 0; r < shape.ranks; ++r) programs.push_back(job.record(r, call, memory));
    const double simulated = NetworkSimulation(model, job).run(call).ns / 1e3;
    const double simgrid = time_by_simgrid(engine, model, programs);
    std::printf("%s ranks %d simulate_us %.3f simgrid_us %.3f\n", argv[1], shape.ranks, simulated, simgrid);
    return std::fabs(simulated - simgrid) <= tolerated_us ? 0 : 1;
}
