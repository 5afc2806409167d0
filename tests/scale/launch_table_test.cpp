// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// As table_test.cpp, for tables of the launcher, of agreements, of the bridge and of engines between hosts:
// bytes per rank of the job in one process, with 10^3 and 10^6 ranks, 100 per node. Peers are numbered at
// first contact, so a rank that exchanges messages with the same number of others needs as much in any job.
#include "bridge/peer_numbering.hpp"
#include "bridge/routes.hpp"
#include "bridge/subnetwork.hpp"
#include "core/fault/job_votes.hpp"
#include "launch/noded/rank_processes.hpp"
#include "launch/placement/host_list.hpp"
#include "launch/protocol/messages.hpp"
#include "transport/tcp_engine/job_peers.hpp"

#include <array>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <malloc.h>
#include <memory>
#include <numeric>
#include <string>

namespace zipmpi {
namespace {

constexpr int few = 1000;
constexpr int many = 1'000'000;
constexpr int per_node = 100;
constexpr int contacts = 40; // ranks on other hosts with which a rank exchanges messages

int nodes_of(int ranks) { return ranks / per_node; }

launch::NodeMap map_of(int ranks, bool round_robin) {
    std::vector<launch::NodeRun> runs;
    const int turns = round_robin ? per_node : 1;
    for (int turn = 0; turn < turns; ++turn)
        for (int node = 0; node < nodes_of(ranks); ++node)
            runs.push_back({static_cast<uint32_t>(node), static_cast<uint32_t>(per_node / turns)});
    return launch::NodeMap(std::move(runs));
}

launch::StartRequest request_of(int ranks) {
    launch::StartRequest request;
    request.job_id = "tables";
    request.world_size = static_cast<uint32_t>(ranks);
    launch::AppContext app;
    app.ranks = request.world_size;
    app.argv = {"./program"};
    request.apps.push_back(app);
    request.map = map_of(ranks, false);
    request.tree.agents = {{"ssh"}};
    request.tree.daemon = "zipmpi-noded";
    request.tree.fanout = 32;
    for (int node = 0; node < nodes_of(ranks); ++node)
        request.tree.hosts.push_back("node" + std::to_string(10000 + node));
    return request;
}

const launch::StartRequest& whole_request(int ranks) {
    static const launch::StartRequest small = request_of(few), large = request_of(many);
    return ranks == few ? small : large;
}

// A daemon with this part of the nodes: 1, or the largest part of mpiexec's children.
std::shared_ptr<void> request_in_daemon(int ranks, int nodes) {
    auto request = std::make_shared<launch::StartRequest>();
    EXPECT_TRUE(decode(encode(whole_request(ranks), 0, static_cast<uint32_t>(nodes)), *request));
    return request;
}

std::shared_ptr<void> host_list(int ranks) {
    auto hosts = std::make_shared<launch::HostList>();
    for (const std::string& name : whole_request(ranks).tree.hosts) hosts->push_back({name, per_node});
    return hosts;
}

// Of a job in four clusters, each with a gateway to the others.
const bridge::ClusterMap& clusters_of(int ranks) {
    const auto make = [](int nodes) {
        bridge::ClusterMap map;
        for (int c = 0; c < 4; ++c) {
            map.clusters.push_back({std::string(1, static_cast<char>('a' + c))});
            map.gateways.push_back({c, "gateway", {{c, {}}}, {}});
            for (int to = 0; to < 4; ++to)
                if (to != c) map.gateways.back().links.push_back({to, {}, {}, false});
        }
        for (int node = 0; node < nodes; ++node) map.nodes.push_back({{node * 4 / nodes}});
        return map;
    };
    static const bridge::ClusterMap small = make(nodes_of(few)), large = make(nodes_of(many));
    return ranks == few ? small : large;
}

struct Votes {
    explicit Votes(int ranks)
        : jobs(1, std::vector<int>(static_cast<size_t>(ranks)))
        , votes(jobs, static_cast<size_t>(ranks)) {}
    std::vector<std::vector<int>> jobs;
    core::JobVotes votes;
};

// Other ranks of the job in contact with this one: evenly distributed.
template <class Contact>
void for_each_contact(int ranks, Contact contact) {
    for (int i = 0; i < contacts; ++i) contact(static_cast<int>(int64_t{ranks} * i / contacts));
}

class EnginePeers final : transport::AddressResolver, transport::tcp_engine::ConnectionListener {
  public:
    explicit EnginePeers(int ranks)
        : peers_(settings(ranks), *this) {
        for_each_contact(ranks, [this](int rank) { peers_.number_for(rank); });
    }
    std::string find(int /*id*/) override { return {}; }
    void peer_connected(transport::Peer /*peer*/, int /*id*/) override {}
    void peer_reset(transport::Peer /*peer*/) override {}

  private:
    transport::NetworkConfig settings(int ranks) {
        static const std::array<uint8_t, 32> key{};
        transport::NetworkConfig config{.world_rank = 0, .keys = {key, key, ranks}};
        config.resolver = this;
        return config;
    }
    transport::tcp_engine::JobPeers peers_;
};

std::shared_ptr<void> bridge_peers(int ranks) {
    auto peers = std::make_shared<bridge::PeerNumbering>();
    transport::Peer flow = 0;
    for_each_contact(ranks, [&](int rank) { peers->set_rank(rank, peers->number_flow(flow++)); });
    return peers;
}

std::shared_ptr<void> subnetwork_peers(int ranks) {
    auto peers = std::make_shared<bridge::SubnetworkPeers>();
    transport::Peer inner = 0;
    for_each_contact(ranks, [&](int) { peers->add({0, inner++}); });
    return peers;
}

struct Table {
    const char* name;
    std::function<std::shared_ptr<void>(int ranks)> make;
    double most; // bytes per rank with 10^6 ranks
};

const Table tables[] = {
    {"launcher: map of ranks in the order of nodes",
     [](int n) { return std::make_shared<launch::NodeMap>(map_of(n, false)); }, 0.25},
    {"launcher: map of ranks round robin",
     [](int n) { return std::make_shared<launch::NodeMap>(map_of(n, true)); }, 25},
    {"mpiexec: list of hosts", host_list, 1.0},
    {"daemon: start request, at mpiexec's first child",
     [](int n) { return request_in_daemon(n, (nodes_of(n) + 31) / 32); }, 0.3},
    {"daemon: start request, at a leaf", [](int n) { return request_in_daemon(n, 1); }, 0.26},
    {"daemon: processes of its ranks",
     [](int) { return std::make_shared<std::vector<launch::RankProcess>>(per_node); }, 0.1},
    {"agreement: votes and failed members of one job", [](int n) { return std::make_shared<Votes>(n); }, 4.2},
    {"bridge: peers in contact", bridge_peers, 0.01},
    {"bridge: peers of the networks of a multihomed rank, in contact", subnetwork_peers, 0.01},
    {"bridge: cluster map", [](int n) { return std::make_shared<bridge::ClusterMap>(clusters_of(n)); }, 0.6},
    {"bridge: routes", [](int n) { return std::make_shared<bridge::RoutingTable>(clusters_of(n)); }, 0.01},
    {"engine tcp: peers in contact", [](int n) { return std::make_shared<EnginePeers>(n); }, 0.02},
};

size_t allocated() {
    const struct mallinfo2 in_use = mallinfo2();
    return in_use.uordblks + in_use.hblkhd;
}

double bytes_per_rank(const Table& table, int ranks) {
    const size_t before = allocated();
    const std::shared_ptr<void> held = table.make(ranks);
    return (static_cast<double>(allocated()) - static_cast<double>(before)) / ranks;
}

TEST(LaunchTables, BytesPerRankOfTheJob) {
    for (const int ranks : {few, many}) {
        static_cast<void>(whole_request(ranks));
        static_cast<void>(clusters_of(ranks));
    }
    for (const Table& table : tables) {
        const double small = bytes_per_rank(table, few);
        const double large = bytes_per_rank(table, many);
        std::printf("%-65s %8.3f %8.3f\n", table.name, small, large);
        EXPECT_LE(large, table.most) << table.name;
    }
}

// Bytes on the network, not in memory.
TEST(LaunchTables, StartRequestOfALeaf) {
    for (const int ranks : {few, many}) {
        const size_t child =
            encode(whole_request(ranks), 0, static_cast<uint32_t>(nodes_of(ranks) + 31) / 32).size();
        const size_t leaf = encode(whole_request(ranks), 0, 1).size();
        std::printf("start request with %d ranks: %zu bytes to mpiexec's first child, %zu to a leaf\n", ranks,
                    child, leaf);
        EXPECT_LT(leaf, 500U);
    }
}

} // namespace
} // namespace zipmpi
