// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/picture.hpp"
#include "launch/map/placement.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

const std::vector<CpuList> four_cores = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};

TEST(Placement, OneCoreEachWhenTheyFit) {
    const auto p = place({3, 1, 4, BindMode::automatic}, four_cores);
    ASSERT_EQ(p.size(), 3U);
    EXPECT_EQ(p[0], (CpuList{0, 4}));
    EXPECT_EQ(p[2], (CpuList{2, 6}));
}

TEST(Placement, MoreRanksThanCoresAreLeftFree) {
    for (const auto& list : place({5, 1, 4, BindMode::automatic}, four_cores)) EXPECT_TRUE(list.empty());
}

TEST(Placement, AQuotaCountsLikeFewerCores) {
    EXPECT_FALSE(wants_binding({3, 1, 2, BindMode::automatic}));
    EXPECT_TRUE(wants_binding({2, 1, 2, BindMode::automatic}));
}

TEST(Placement, ForcedBindingWrapsAround) {
    const auto p = place({6, 1, 4, BindMode::core}, four_cores);
    EXPECT_EQ(p[4], (CpuList{0, 4}));
    EXPECT_EQ(p[5], (CpuList{1, 5}));
}

TEST(Placement, NoneMeansNone) {
    EXPECT_FALSE(wants_binding({1, 1, 4, BindMode::none}));
    for (const auto& list : place({2, 1, 4, BindMode::none}, four_cores)) EXPECT_TRUE(list.empty());
}

TEST(Placement, ThreadedRanksGetSeveralCores) {
    const auto p = place({2, 2, 4, BindMode::automatic}, four_cores);
    EXPECT_EQ(p[1], (CpuList{2, 3, 6, 7}));
    EXPECT_TRUE(place({3, 2, 4, BindMode::automatic}, four_cores)[0].empty());
}

TEST(Placement, ARankNeverGetsACoreTwice) {
    const auto p = place({2, 9, 4, BindMode::core}, four_cores);
    EXPECT_EQ(p[0], (CpuList{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Placement, AnUnknownMachineBindsNothing) {
    for (const auto& list : place({2, 1, 2, BindMode::core}, {})) EXPECT_TRUE(list.empty());
}

TEST(Placement, SocketsInTurn) {
    std::vector<CpuList> cores = {{0}, {1}, {2}, {3}, {4}};
    std::vector<uint16_t> sockets = {0, 0, 0, 1, 1};
    take_sockets_in_turn(cores, sockets);
    EXPECT_EQ(cores, (std::vector<CpuList>{{0}, {3}, {1}, {4}, {2}}));
    EXPECT_EQ(sockets, (std::vector<uint16_t>{0, 1, 0, 1, 0}));
}

TEST(Placement, AWholeSocketForARank) {
    std::vector<CpuList> placed = {{0, 4}, {2, 6}, {}};
    widen_to_sockets(placed, four_cores, {0, 0, 1, 1});
    EXPECT_EQ(placed[0], (CpuList{0, 1, 4, 5}));
    EXPECT_EQ(placed[1], (CpuList{2, 3, 6, 7}));
    EXPECT_TRUE(placed[2].empty());
}

TEST(Placement, Picture) {
    HostPicture p{"n1", 3, four_cores, {0, 0, 1, 1}, {6, 7, 8}, {{0, 4}, {2, 6}, {}}, ""};
    EXPECT_EQ(picture(p), "node 3, n1\n"
                          "  socket 0: core 0 (cpu 0,4) rank 6 | core 1 (cpu 1,5) -\n"
                          "  socket 1: core 2 (cpu 2,6) rank 7 | core 3 (cpu 3,7) -\n"
                          "  any core: rank 8\n");
}

} // namespace
