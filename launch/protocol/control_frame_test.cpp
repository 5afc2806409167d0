// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/messages.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

StartRequest sample() {
    StartRequest r;
    r.job_id = "j";
    r.world_size = 5;
    r.map = NodeMap({{0, 3}, {1, 2}});
    r.directory = "/d";
    r.tree.hosts = {"a", "b"};
    r.tree.agents = {{"ssh"}, {"srun", "-w"}};
    r.tree.agent_of = {0, 1};
    r.tree.parents = {LaunchTree::no_parent, 0};
    r.tree.daemon = "/bin/noded";
    r.tree.fanout = 2;
    r.tree.job_id = "j";
    r.cluster_map = "grid1";
    r.gateway_nodes = {1};
    r.apps = {{2, "/bin/a", {"a", "-x"}, {"K=V"}, "/there"}, {3, "/bin/b", {"b"}, {}, {}}};
    r.base_env = {"HOME=/", "EMPTY="};
    r.placement.strategy = MapStrategy::rank_file;
    r.placement.bind_to = Unit::l3cache;
    r.placement.cores_per_rank = 3;
    r.placement.cpu_set = "0-3";
    r.placement.rank_file = {{4, "b", "1:0-2"}};
    r.placement.report_bindings = true;
    r.output.label = OutputPolicy::Label::rank;
    return r;
}

TEST(Frame, DecodesFragmentedStream) {
    const std::string bytes = encode(ControlFrameType::output, "hello") + encode(ControlFrameType::done, "");
    for (size_t cut = 0; cut <= bytes.size(); ++cut) {
        FrameDecoder d;
        std::vector<ControlFrame> got;
        ControlFrame f;
        for (const auto& part : {bytes.substr(0, cut), bytes.substr(cut)}) {
            d.feed(part);
            while (d.next(f)) got.push_back(f);
        }
        ASSERT_EQ(got.size(), 2U);
        EXPECT_EQ(got[0].payload, "hello");
        EXPECT_EQ(got[1].type, ControlFrameType::done);
    }
}

TEST(Frame, RejectsTooLong) {
    FrameDecoder d;
    d.feed(std::string("\1\0\0\0\377\377\377\377", 8));
    ControlFrame f;
    EXPECT_FALSE(d.next(f));
    EXPECT_TRUE(d.is_malformed());
}

TEST(Messages, StartRequestRoundTrip) {
    StartRequest out;
    ASSERT_TRUE(decode(encode(sample()), out));
    EXPECT_EQ(out.map.ranks_of(1), (std::vector<uint32_t>{3, 4}));
    EXPECT_EQ(out.app_of(out.apps[0].ranks - 1), 0U);
    EXPECT_EQ(out.app_of(out.apps[0].ranks), 1U);
    EXPECT_EQ(out.tree.hosts[1], "b");
    EXPECT_EQ(out.tree.agent(1)[0], "srun");
    EXPECT_EQ(out.tree.parents[1], 0U);
    EXPECT_EQ(out.gateway_nodes[0], 1U);
    EXPECT_EQ(out.directory, "/d");
    EXPECT_EQ(out.apps[0].argv, (std::vector<std::string>{"a", "-x"}));
    EXPECT_EQ(out.apps[0].directory, "/there");
    EXPECT_EQ(out.base_env[1], "EMPTY=");
    EXPECT_EQ(out.placement.strategy, MapStrategy::rank_file);
    EXPECT_EQ(out.placement.bind_to, Unit::l3cache);
    EXPECT_EQ(out.placement.cores_per_rank, 3U);
    EXPECT_EQ(out.placement.cpu_set, "0-3");
    EXPECT_EQ(out.placement.rank_file[0].cpus, "1:0-2");
    EXPECT_TRUE(out.placement.report_bindings);
    EXPECT_FALSE(out.placement.show_map);
    EXPECT_EQ(out.output.label, OutputPolicy::Label::rank);
}

// The names of the hosts below a daemon, and ranks that are alike, written once: 10,000 hosts cost a leaf
// nothing.
TEST(Messages, StartRequestOfASubtree) {
    constexpr uint32_t nodes = 10000;
    StartRequest r = sample();
    r.tree.agent_of = r.tree.parents = r.gateway_nodes = {};
    r.tree.hosts.clear();
    std::vector<NodeRun> runs;
    for (uint32_t node = 0; node < nodes; ++node) {
        r.tree.hosts.push_back("node" + std::to_string(10000 + node));
        runs.push_back({node, 100});
    }
    r.map = NodeMap(runs);
    r.world_size = r.apps[1].ranks = nodes * 100;
    r.apps.erase(r.apps.begin());
    StartRequest inner;
    ASSERT_TRUE(decode(encode(r, 40, 60), inner));
    EXPECT_EQ(inner.tree.nodes(), nodes);
    EXPECT_EQ(inner.map.runs().size(), nodes);
    EXPECT_TRUE(inner.tree.has_hosts(40, 60));
    EXPECT_FALSE(inner.tree.has_hosts(39, 60) || inner.tree.has_hosts(40, 61));
    EXPECT_EQ(inner.tree.host(41), "node10041");
    StartRequest leaf; // as the daemon of the subtree forwards it
    ASSERT_TRUE(decode(encode(inner, 41, 42), leaf));
    EXPECT_EQ(leaf.tree.hosts, (std::vector<std::string>{"node10041"}));
    EXPECT_LT(encode(r, 41, 42).size(), 500U);
    r.pmix = true; // PMIx clients see all names
    EXPECT_GT(encode(r, 41, 42).size(), nodes * 9U);
}

TEST(Messages, RejectsRunsBeyondTheWorld) {
    StartRequest r = sample();
    std::string bytes = encode(r);
    StartRequest out;
    ASSERT_TRUE(decode(bytes, out));
    // after two texts, the number of ranks and the number of groups: first node, nodes, ranks of each
    const size_t nodes_of_group = 4 + r.job_id.size() + 4 + r.directory.size() + 4 + 4 + 4;
    bytes[nodes_of_group + 3] = '\x7f';
    EXPECT_FALSE(decode(bytes, out));
}

TEST(Messages, RejectsEveryTruncation) {
    const std::string bytes = encode(sample());
    for (size_t n = 0; n < bytes.size(); ++n) {
        StartRequest out;
        EXPECT_FALSE(decode(std::string_view(bytes).substr(0, n), out)) << n;
    }
    StartRequest out;
    EXPECT_FALSE(decode(bytes + "x", out));
}

TEST(Messages, ToleratesFlippedBytes) {
    const std::string good = encode(sample());
    size_t refused = 0;
    for (size_t n = 0; n < good.size(); ++n) {
        std::string bad = good;
        bad[n] = static_cast<char>(0xff);
        StartRequest out;
        if (decode(bad, out)) // then exactly all bytes have been read
            EXPECT_EQ(encode(out).size(), bad.size()) << n;
        else
            ++refused;
    }
    EXPECT_GT(refused, 0U);
    EXPECT_LT(refused, good.size());
}

TEST(Messages, RanksMustCoverWorld) {
    StartRequest r = sample(), out;
    r.world_size = 4;
    EXPECT_FALSE(decode(encode(r), out));
    r = sample();
    r.apps[0].argv.clear();
    EXPECT_FALSE(decode(encode(r), out));
}

TEST(Messages, RejectsUnknownPolicies) {
    const auto refused = [](void (*spoil)(PlacementPolicy&)) {
        StartRequest r = sample(), out;
        spoil(r.placement);
        return !decode(encode(r), out);
    };
    EXPECT_TRUE(refused([](PlacementPolicy& p) { p.strategy = static_cast<MapStrategy>(8); }));
    EXPECT_TRUE(refused([](PlacementPolicy& p) { p.map_unit = static_cast<Unit>(12); }));
    EXPECT_TRUE(refused([](PlacementPolicy& p) { p.rank_by = static_cast<Unit>(12); }));
    EXPECT_TRUE(refused([](PlacementPolicy& p) { p.bind_to = static_cast<Unit>(12); }));
    EXPECT_TRUE(refused([](PlacementPolicy& p) { p.rank_file[0].rank = 5; })); // not in the world
}

TEST(Messages, SnapshotAndFailure) {
    RankSnapshot p;
    p.rank = 3;
    p.function = "MPI_Recv";
    p.waits.push_back({zipmpi::WaitKind::recv, 1, 7, "MPI_COMM_WORLD", 0, 64});
    Snapshot decoded;
    ASSERT_TRUE(decode(encode(Snapshot{p}), decoded));
    EXPECT_EQ(decoded[0].waits[0].tag, 7);
    EXPECT_FALSE(decode(encode(Snapshot{p}).substr(0, 40), decoded));
    Failure f{2, 139, true, "text"}, g;
    ASSERT_TRUE(decode(encode(f), g));
    EXPECT_EQ(g.exit_code, 139U);
}

} // namespace
