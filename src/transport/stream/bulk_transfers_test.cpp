// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stream/bulk_transfers.hpp"

#include <gtest/gtest.h>

namespace zipmpi::transport::stream {
namespace {

BufferRef buffer_for(NetworkOperation& operation) { return {nullptr, 100, &operation}; }

TEST(BulkTransfers, OnlyTheReceiverTakesTheData) {
    BulkTransfers transfers;
    NetworkOperation operation;
    const uint64_t number = transfers.new_number();
    transfers.add_send({3, number}, buffer_for(operation));
    EXPECT_FALSE(transfers.take_send({4, number})) << "announced to another peer";
    EXPECT_FALSE(transfers.take_send({3, number + 1}));
    const auto data = transfers.take_send({3, number});
    ASSERT_TRUE(data);
    EXPECT_EQ(data->operation, &operation);
    EXPECT_FALSE(transfers.take_send({3, number})) << "only once";
    EXPECT_FALSE(transfers.has_sends());
}

TEST(BulkTransfers, AnnouncedMessageIsFetchedOnce) {
    BulkTransfers transfers;
    NetworkOperation operation;
    IncomingBulk of_another_network;
    IncomingBulk& bytes = transfers.add_announced({3, 9});
    EXPECT_FALSE(transfers.take_announced(of_another_network));
    EXPECT_EQ(transfers.take_announced(bytes), (BulkKey{3, 9}));
    EXPECT_EQ(transfers.find_fetch({3, 9}), nullptr);
    transfers.start_fetch({3, 9}, buffer_for(operation));
    ASSERT_NE(transfers.find_fetch({3, 9}), nullptr);
    EXPECT_EQ(transfers.end_fetch({3, 9}), &operation);
    EXPECT_EQ(transfers.find_fetch({3, 9}), nullptr);
}

TEST(BulkTransfers, EachNumberIsUsedOnce) {
    BulkTransfers transfers;
    NetworkOperation operation;
    EXPECT_TRUE(transfers.is_new_announcement({3, 9}));
    EXPECT_FALSE(transfers.is_new_announcement({3, 9}));
    EXPECT_FALSE(transfers.is_new_announcement({3, 8}));
    EXPECT_TRUE(transfers.is_new_announcement({4, 9})) << "of another peer";
    transfers.start_fetch({3, 9}, buffer_for(operation));
    EXPECT_FALSE(transfers.begin_delivery({3, 8}, 100)) << "not pulled";
    EXPECT_FALSE(transfers.begin_delivery({3, 9}, 99)) << "another length";
    EXPECT_TRUE(transfers.begin_delivery({3, 9}, 100));
    EXPECT_FALSE(transfers.begin_delivery({3, 9}, 100)) << "on a second connection at the same time";
}

TEST(BulkTransfers, FailedPeerAbandonsItsOperations) {
    BulkTransfers transfers;
    NetworkOperation of_failed[2];
    NetworkOperation of_other[2];
    transfers.add_send({1, 1}, buffer_for(of_failed[0]));
    transfers.add_send({2, 2}, buffer_for(of_other[0]));
    transfers.start_fetch({1, 7}, buffer_for(of_failed[1]));
    transfers.start_fetch({2, 7}, buffer_for(of_other[1]));
    std::vector<NetworkOperation*> unsent;
    std::vector<NetworkOperation*> unreceived;
    transfers.abandon(1, unsent, unreceived);
    EXPECT_EQ(unsent, std::vector{&of_failed[0]});
    EXPECT_EQ(unreceived, std::vector{&of_failed[1]});
    EXPECT_TRUE(transfers.has_sends());
    EXPECT_NE(transfers.find_fetch({2, 7}), nullptr);
}

} // namespace
} // namespace zipmpi::transport::stream
