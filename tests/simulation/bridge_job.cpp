// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge_job.hpp"

#include "bridge/frame.hpp"

#include <algorithm>

namespace zipmpi::simulation {
namespace {

constexpr uint64_t traffic_ns = 3 * second; // messages and faults begin within this time
constexpr uint64_t longest_fault = 4 * second;
constexpr uint64_t message_limit = 25 * second; // an endpoint declares a silent peer failed after 30 s,
constexpr uint64_t separation_limit = 35 * second;
constexpr uint64_t end_limit = 40 * second; // and waits as long for one whose last frames were lost
constexpr uint64_t step_limit = 1'000'000;
constexpr uint64_t windows[] = {64 << 10, 200 << 10, 512 << 10}; // of connections
constexpr uint64_t sizes[] = {0, 8, 8, 200, 1000, 5000, 70000, 131072, 131073, 300000, 700000};

} // namespace

BridgeJob::BridgeJob(uint64_t seed, Trace trace)
    : simulator(seed, trace)
    , carrier(simulator) {
    make_map();
    for (int r = 0; r < ranks(); ++r) ranks_.push_back(std::make_unique<BridgeRank>(*this, r));
    for (size_t g = 0; g < map().gateways.size(); ++g)
        gateways_.push_back(std::make_unique<BridgeGateway>(*this, static_cast<int>(g)));
    gateway_starts_.assign(gateways_.size(), 0);
    carrier.limits = {windows[simulator.below(std::size(windows))], rank_credit};
}

BridgeJob::~BridgeJob() = default;

uint64_t BridgeJob::number() const { return bridge::job_number("simulated"); }

// One or two gateways in both clusters, or pairs of gateways with a link.
void BridgeJob::make_map() {
    auto made = std::make_shared<bridge::ClusterMap>();
    made->clusters = {{"a"}, {"b"}};
    const int first = static_cast<int>(simulator.between(1, 2));
    locator.job_size = first + static_cast<int>(simulator.between(1, 2));
    for (int r = 0; r < locator.job_size; ++r) made->nodes.push_back({{r < first ? 0 : 1}});
    linked_ = simulator.chance(500);
    const int paths = simulator.chance(700) ? 2 : 1;
    for (int g = 0; g < (linked_ ? 2 * paths : paths); ++g) {
        bridge::GatewaySpec& spec = made->gateways.emplace_back();
        spec.number = g;
        spec.host = "gateway" + std::to_string(g);
        if (linked_) {
            spec.attached = {{g < paths ? 0 : 1, ""}};
            spec.links = {{(g + paths) % (2 * paths), g < paths ? "10.0.0.1:0" : "", "", false}};
        } else {
            spec.attached = {{0, ""}, {1, ""}};
        }
    }
    locator.cluster_map = std::move(made);
    locator.node_of = [](int rank) { return rank; };
}

int BridgeJob::other_cluster(int rank) {
    std::vector<int> others;
    for (int r = 0; r < ranks(); ++r)
        if (!locator.share_cluster(rank, r)) others.push_back(r);
    return others[simulator.below(others.size())];
}

void BridgeJob::send(int from, int to, uint64_t bytes, uint64_t when) {
    ranks_[static_cast<size_t>(from)]->add_send(to, bytes, when);
    ranks_[static_cast<size_t>(to)]->expect(from);
}

void BridgeJob::make_traffic() {
    std::vector<uint64_t> times(simulator.between(2, 24));
    for (uint64_t& t : times) t = simulator.now() + simulator.below(traffic_ns);
    std::ranges::sort(times);
    const uint64_t kill_at = simulator.chance(60) ? times.front() : never;
    for (const uint64_t when : times) {
        if (when == kill_at) kill_under_load(when);
        const auto from = static_cast<int>(simulator.below(static_cast<uint64_t>(ranks())));
        const int to = other_cluster(from);
        for (uint64_t burst = simulator.chance(200) ? simulator.between(2, 12) : 1; burst > 0; --burst)
            send(from, to, sizes[simulator.below(std::size(sizes))], when);
    }
}

// A rank dies while long messages to it wait for gateways that do not read.
void BridgeJob::kill_under_load(uint64_t when) {
    const auto victim = static_cast<int>(simulator.below(static_cast<uint64_t>(ranks())));
    const int from = other_cluster(victim);
    for (uint64_t n = simulator.between(1, 6); n > 0; --n)
        send(from, victim, simulator.between(131073, 700000), when);
    simulator.at(when, [this] {
        simulator.print("stop of all gateways");
        const uint64_t until = simulator.now() + simulator.between(300 * ms, 2 * second);
        for (const auto& g : gateways_) g->stop_until(until);
    });
    simulator.at(when + simulator.between(ms, 300 * ms), [this, victim] {
        if (killed_ < 0) kill_rank(victim);
    });
}

void BridgeJob::make_faults() {
    faults_end_ = simulator.now() + traffic_ns + longest_fault;
    if (linked_ && gateways_.size() == 2 && simulator.chance(200))
        simulator.after(simulator.below(traffic_ns), [this] { separate_clusters(); });
    for (uint64_t n = simulator.below(7); n > 0; --n)
        simulator.after(simulator.below(traffic_ns), [this] { place_fault(); });
}

void BridgeJob::place_fault() {
    enum Kind { reset, cut, stop, slow, gateway_killed, link_cut, rank_killed, frame_faults, kinds };
    const uint64_t until = simulator.now() + simulator.between(10 * ms, longest_fault);
    const auto rank = static_cast<int>(simulator.below(static_cast<uint64_t>(ranks())));
    const auto g = static_cast<size_t>(simulator.below(gateways_.size()));
    const int gateway = bridge::gateway_id(ranks(), static_cast<int>(g));
    // A rank or another gateway.
    const int neighbor = gateways_.size() > 2 && simulator.chance(300)
                             ? bridge::gateway_id(ranks(), static_cast<int>(g ^ 1U))
                             : rank;
    const bool first = simulator.chance(500);
    Process& process =
        simulator.chance(500) ? static_cast<Process&>(*ranks_[static_cast<size_t>(rank)]) : *gateways_[g];
    switch (simulator.below(kinds)) {
    case reset:
        return first ? carrier.reset(neighbor, gateway) : carrier.reset(gateway, neighbor);
    case cut:
        simulator.print("cut between " + std::to_string(neighbor) + " and " + std::to_string(gateway));
        return first ? carrier.cut(neighbor, gateway, until) : carrier.cut(gateway, neighbor, until);
    case stop:
        simulator.print("stop of " + process.name());
        return process.stop_until(until);
    case slow:
        simulator.print("slow " + process.name());
        return process.slow_until(until);
    case gateway_killed:
        return kill_gateway(g);
    case link_cut:
        if (linked_) cut_link(g, until);
        return;
    case rank_killed:
        if (killed_ < 0 && simulator.chance(600)) kill_rank(rank);
        return;
    default:
        simulator.print("faults of frames");
        carrier.set_frame_faults(
            {ranks(), simulator.below(200), simulator.below(200), simulator.below(200), simulator.below(50)},
            until);
    }
}

// The launcher reports it to the others.
void BridgeJob::kill_rank(int rank) {
    simulator.print("kill of rank " + std::to_string(rank));
    killed_ = rank;
    ranks_[static_cast<size_t>(rank)]->kill();
    for (const auto& other : ranks_) {
        BridgeRank* const r = other.get();
        if (r->is_alive())
            simulator.after(simulator.between(ms, 50 * ms), [r, rank] {
                if (r->is_alive()) r->on_failed(rank);
            });
    }
}

// Its daemon starts it again.
void BridgeJob::kill_gateway(size_t g) {
    BridgeGateway& gateway = *gateways_[g];
    if (!gateway.is_alive()) return;
    simulator.print("kill of " + gateway.name());
    gateway.kill();
    if (linked_) cut_link(g, simulator.now() + simulator.between(ms, second));
    simulator.after(simulator.between(50 * ms, second), [this, g] { start_gateway(g); });
}

void BridgeJob::start_gateway(size_t g) {
    gateways_[g]->open(++gateway_starts_[g]);
    if (linked_) cut_link(g, simulator.now() + simulator.between(ms, 500 * ms));
}

// Both ends notice it at different times.
void BridgeJob::cut_link(size_t g, uint64_t until) {
    const size_t other = other_end(g);
    for (const auto& [a, b] : {std::pair{g, other}, std::pair{other, g}}) {
        simulator.after(simulator.below(2 * ms), [this, from = a, to = b] {
            gateways_[from]->set_link(static_cast<int>(to), LinkState::down);
        });
        simulator.at(until + 3 * ms + simulator.below(2 * ms), [this, from = a, to = b] {
            if (!separated_ && gateways_[from]->is_alive() && gateways_[to]->is_alive())
                gateways_[from]->set_link(static_cast<int>(to), LinkState::up);
        });
    }
}

// The link between them never returns.
void BridgeJob::separate_clusters() {
    simulator.print("separation of the clusters");
    separated_ = true;
    cut_link(0, simulator.now());
}

bool BridgeJob::may_fail(int rank, int other) const {
    return killed_ == other || (separated_ && !locator.share_cluster(rank, other));
}

// A link keeps the order of its frames.
void BridgeJob::forward(int from_gateway, int to_gateway, Item item) {
    uint64_t& last = link_due_[{from_gateway, to_gateway}];
    last = std::max(last, simulator.now() + simulator.between(100 * us, 300 * us));
    BridgeGateway* const to = gateways_[static_cast<size_t>(to_gateway)].get();
    simulator.at(last, [to, item = std::move(item)] { to->arrive(item); });
}

bool BridgeJob::run_until(const std::function<bool()>& finished, uint64_t time_limit, const char* what) {
    const uint64_t limit = std::max(simulator.now(), faults_end_) + time_limit;
    while (simulator.violation().empty() && !finished()) {
        if (!simulator.step() || simulator.now() > limit + (separated_ ? separation_limit : 0) ||
            simulator.steps() > step_limit) {
            std::string state;
            for (const auto& r : ranks_)
                if (r->is_alive()) state += r->state();
            simulator.fail(std::string(what) + " after " + std::to_string(simulator.steps()) +
                           " steps: " + state);
            break;
        }
        for (const auto& g : gateways_) g->check_memory();
    }
    return simulator.violation().empty();
}

std::string BridgeJob::run() {
    const auto every_rank = [this](const auto& property) {
        return std::ranges::all_of(ranks_, [&](const auto& r) { return !r->is_alive() || property(*r); });
    };
    simulator.print(std::to_string(ranks()) + " ranks, " +
                    (linked_ ? "gateways with links" : "gateways in both clusters"));
    for (const auto& r : ranks_) r->open();
    for (size_t g = 0; g < gateways_.size(); ++g) start_gateway(g);
    make_traffic();
    make_faults();
    if (!run_until([&] { return every_rank([](const BridgeRank& r) { return r.has_finished(); }); },
                   message_limit, "messages are missing"))
        return simulator.violation();
    for (const auto& r : ranks_) {
        BridgeRank* const rank = r.get();
        simulator.after(simulator.below(5 * ms), [rank] { rank->begin_end(); });
    }
    run_until([&] { return every_rank([](const BridgeRank&) { return false; }); }, end_limit,
              "a rank cannot end");
    return simulator.violation();
}

} // namespace zipmpi::simulation
