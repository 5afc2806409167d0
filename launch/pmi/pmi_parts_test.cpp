// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of the PMI server: store, fence and pending requests.
#include "launch/pmi/pmi_server.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

using Space = PmiStore::Space;

TEST(PmiStore, KeepsSpacesApart) {
    PmiStore store;
    EXPECT_TRUE(store.put(Space::keys, "a", "1"));
    EXPECT_EQ(*store.find(Space::keys, "a"), "1");
    EXPECT_EQ(store.find(Space::published_names, "a"), nullptr);
    EXPECT_FALSE(store.erase(Space::published_names, "a"));
    EXPECT_TRUE(store.erase(Space::keys, "a"));
    EXPECT_EQ(store.find(Space::keys, "a"), nullptr);
}

TEST(PmiStore, RefusesLongTexts) {
    PmiStore store;
    EXPECT_FALSE(store.put(Space::keys, "", "1"));
    EXPECT_FALSE(store.put(Space::keys, std::string(pmi_key_limit + 1, 'k'), "1"));
    EXPECT_FALSE(store.put(Space::keys, "a", std::string(pmi_value_limit + 1, 'v')));
    store.put_unlimited(Space::keys, "a", std::string(pmi_value_limit + 1, 'v'));
    EXPECT_NE(store.find(Space::keys, "a"), nullptr);
}

TEST(PmiStore, HasALimit) {
    PmiStore store;
    const std::string value(pmi_value_limit, 'v');
    uint32_t stored = 0;
    while (store.put(Space::node_attributes, "a", value)) ++stored; // the same key: only the count grows
    EXPECT_EQ(stored, (256U << 20) / (pmi_value_limit + 1));
    EXPECT_FALSE(store.put(Space::keys, "b", value));
}

TEST(PmiFence, WaitsForRanksThatHaveNotExited) {
    PmiFence fence;
    fence.add_member();
    fence.add_member();
    fence.enter(0);
    EXPECT_FALSE(fence.is_complete());
    fence.end(1);
    EXPECT_TRUE(fence.is_complete());
    fence.add_pairs("p");
    EXPECT_TRUE(fence.mark_sent());
    EXPECT_TRUE(fence.is_sent());
    EXPECT_EQ(fence.take_pairs(), "p");
    EXPECT_EQ(fence.release(), std::vector<uint32_t>{0});
    EXPECT_FALSE(fence.is_sent());
}

TEST(PmiFence, WithoutRanksInItIsNotSent) {
    PmiFence fence;
    fence.add_member();
    fence.end(0);
    EXPECT_TRUE(fence.is_complete());
    EXPECT_FALSE(fence.mark_sent());
    EXPECT_FALSE(fence.has_member(1));
}

TEST(PendingGets, OnlyTheFirstNeedsARequest) {
    PendingGets gets;
    EXPECT_TRUE(gets.add("k", {1, {}}));
    EXPECT_FALSE(gets.add("k", {2, {}}));
    EXPECT_TRUE(gets.add("other", {1, {}}));
    gets.drop_client(1);
    EXPECT_TRUE(gets.take("other").empty());
    const auto left = gets.take("k");
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].client, 2U);
    EXPECT_TRUE(gets.take("k").empty());
}

// A node that has failed is answered for by this daemon, before the request returns.
TEST(PmiServer, AcceptsAnImmediateRemoteReply) {
    std::string replies;
    PmiServer* server = nullptr;
    PmiServer::RemoteNodes remote;
    remote.get = [&](uint32_t, const std::string& key) {
        server->on_remote_reply(key, false, {});
        return true;
    };
    PmiServer made(
        {"job", 2, 0, 2, {0}, {0}, ""}, [&](uint32_t, std::string_view bytes) { replies.append(bytes); },
        [](uint32_t, int, std::string_view) {}, remote);
    server = &made;
    made.feed(0, "cmd=init pmi_version=1 pmi_subversion=1\n");
    for (int i = 0; i < 2; ++i) {
        replies.clear();
        made.feed(0, "cmd=get kvsname=job key=zipmpi-1-host\n");
        EXPECT_EQ(replies, "cmd=get_result rc=-1 msg=failed value=unknown\n");
    }
}

} // namespace
