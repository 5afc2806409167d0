// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes per rank of the tables whose size depends on the number of ranks, in jobs of 10^3 and 10^6 ranks with
// 100 per node. Memory that is reserved but never written does not count.
#include "core/group/members.hpp"
#include "core/win/target_cache.hpp"
#include "os/lazy_table.hpp"
#include "proto/coll/hierarchy.hpp"
#include "proto/coll/shm/coll_memory.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/rma/am_origin.hpp"
#include "proto/rma/queue_table.hpp"
#include "proto/rma/target_table.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <malloc.h>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <sys/stat.h>

namespace zipmpi {
namespace {

constexpr int few = 1000;
constexpr int many = 1'000'000;
constexpr int per_node = 100;

std::vector<int> ranks_in_order(int ranks) {
    std::vector<int> list(static_cast<size_t>(ranks));
    std::iota(list.begin(), list.end(), 0);
    return list;
}

std::vector<int> ranks_in_random_order(int ranks) {
    std::vector<int> list = ranks_in_order(ranks);
    std::shuffle(list.begin(), list.end(),
                 std::mt19937(1)); // NOLINT(bugprone-random-generator-seed): repeatable
    return list;
}

// Rank 0 in a job of this size, without launcher.
struct Rank {
    explicit Rank(int ranks) {
        segment::NodeTable nodes;
        nodes.count = static_cast<uint32_t>((ranks + per_node - 1) / per_node);
        for (int r = 0; r < ranks; ++r) nodes.node_of.push_back(static_cast<uint32_t>(r / per_node));
        Diagnostic why;
        EXPECT_TRUE(
            segment::NodeSegment::make("tables", ranks_in_order(per_node), ranks, segment, why, &nodes));
        engine = std::make_unique<proto::ProgressEngine>(segment, 0, 0);
        team.engine = engine.get();
        team.context = 2;
        team.size = ranks;
        struct stat file {};
        fstat(segment.fd(), &file);
        shared_bytes = static_cast<uint64_t>(file.st_blocks) * 512;
    }

    segment::NodeSegment segment;
    std::unique_ptr<proto::ProgressEngine> engine;
    proto::Team team;
    uint64_t shared_bytes = 0; // of the node segment, without windows
};

Rank& rank_of(int ranks) {
    static Rank small(few), large(many);
    return ranks == few ? small : large;
}

// What a rank keeps of a window of all ranks after its creation: the regions are in the control block.
struct Targets {
    explicit Targets(Rank& rank)
        : table(rank.team, control_of(rank), regions_of(rank.team.size)) {
        table.use_shared_regions();
    }
    static std::vector<proto::rma::Region>& regions_of(int ranks) {
        static std::vector<proto::rma::Region> small(few), large(many);
        return ranks == few ? small : large;
    }
    static wire::WindowGeometry geometry(int ranks) { return {per_node, static_cast<uint32_t>(ranks)}; }
    static uint64_t control_of(Rank& rank) {
        static std::map<int, uint64_t> offsets;
        uint64_t& offset = offsets[rank.team.size];
        if (offset == 0)
            offset = proto::coll::allocate_coll_memory(rank.segment, geometry(rank.team.size).total_bytes());
        EXPECT_NE(offset, 0U);
        return offset;
    }
    proto::rma::TargetTable table;
};

struct Table {
    const char* name;
    std::function<std::shared_ptr<void>(int ranks)> make;
    double most; // bytes per rank with 10^6 ranks
};

const Table tables[] = {
    {"MPI_COMM_WORLD, a communicator of ranks in order",
     [](int n) { return std::make_shared<core::Members>(ranks_in_order(n)); }, 0.01},
    {"a communicator of ranks in any order",
     [](int n) { return std::make_shared<core::Members>(ranks_in_random_order(n)); }, 4.01},
    {"nodes of a communicator, ranks of a node consecutive",
     [](int n) {
         std::vector<int> nodes = ranks_in_order(n);
         for (int& node : nodes) node /= per_node;
         return std::make_shared<proto::coll::NodePartition>(nodes);
     },
     0.1},
    {"nodes of a communicator, ranks round robin",
     [](int n) {
         std::vector<int> nodes = ranks_in_order(n);
         for (int& node : nodes) node %= n / per_node;
         return std::make_shared<proto::coll::NodePartition>(nodes);
     },
     8.1},
    {"hierarchy of MPI_COMM_WORLD",
     [](int n) {
         auto copy = std::make_shared<proto::Team>(rank_of(n).team);
         EXPECT_NE(proto::coll::hierarchy_of(*copy), nullptr);
         return copy;
     },
     0.1},
    {"targets of a window and their regions", [](int n) { return std::make_shared<Targets>(rank_of(n)); },
     0.01},
    {"cached targets of a window",
     [](int n) { return std::make_shared<os::LazyTable<core::TargetCache>>(static_cast<size_t>(n)); }, 0.01},
    {"queues of active messages of a window, per direction",
     [](int n) { return std::make_shared<proto::rma::QueueTable<proto::rma::TargetQueue>>(n); }, 0.01},
};

// Private memory that was written, in bytes.
uint64_t resident() {
    malloc_trim(0); // freed memory does not hide what is allocated afterwards
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("Anonymous:")) return std::stoull(line.substr(10)) * 1024;
    return 0;
}

// Small tables are counted by malloc, large ones by their pages.
uint64_t used(int ranks) { return ranks == few ? mallinfo2().uordblks + mallinfo2().hblkhd : resident(); }

double bytes_per_rank(const Table& table, int ranks) {
    const uint64_t before = used(ranks);
    const std::shared_ptr<void> held = table.make(ranks);
    const uint64_t after = used(ranks);
    return static_cast<double>(after - std::min(before, after)) / ranks;
}

class Tables : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        for (const int ranks : {few, many}) const Targets made_by_creation(rank_of(ranks));
    }
};

TEST_F(Tables, BytesPerRankOfTheJob) {
    for (const Table& table : tables) {
        const double small = bytes_per_rank(table, few);
        const double large = bytes_per_rank(table, many);
        std::printf("%-55s %8.3f %8.3f\n", table.name, small, large);
        EXPECT_LE(large, table.most) << table.name;
    }
}

// All tables by peer: a rank with no messages needs as much with 10^6 ranks as with 10^3.
TEST_F(Tables, ProgressEngine) {
    uint64_t bytes[2];
    for (const int ranks : {few, many}) {
        const uint64_t before = resident();
        const proto::ProgressEngine engine(rank_of(ranks).segment, 1, 1);
        bytes[ranks == many] = resident() - std::min(before, resident());
    }
    std::printf("progress engine: %.0f and %.0f KiB\n", static_cast<double>(bytes[0]) / 1024,
                static_cast<double>(bytes[1]) / 1024);
    EXPECT_LE(bytes[1], bytes[0] + 65536);
}

// Control block of a window, shared by the ranks of a node: regions of all members, and a bit per pair of a
// member on the node and any member.
TEST_F(Tables, ControlBlockOfAWindow) {
    const auto per_rank = [](int ranks) {
        return static_cast<double>(Targets::geometry(ranks).total_bytes()) / ranks;
    };
    std::printf("control block of a window, per node: %.1f and %.1f bytes per rank of the job\n",
                per_rank(few), per_rank(many));
    EXPECT_LE(per_rank(many), 40 + per_node / 8.0 + 0.1);
}

// Shared by the ranks of a node.
TEST_F(Tables, NodeSegment) {
    const double more =
        static_cast<double>(rank_of(many).shared_bytes) - static_cast<double>(rank_of(few).shared_bytes);
    std::printf("node segment: %.1f bytes per rank of the job\n", more / (many - few));
    EXPECT_LE(more / (many - few), 8.1);
}

} // namespace
} // namespace zipmpi
