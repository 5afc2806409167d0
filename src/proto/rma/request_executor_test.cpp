// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Requests of active messages, valid and invalid, on the memory of one rank.
#include "proto/rma/request_executor.hpp"

#include "proto/coll/shm/coll_memory.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/rma/attached_ranges.hpp"
#include "proto/rma/batch_reply.hpp"

#include <array>
#include <gtest/gtest.h>

namespace zipmpi::proto::rma {
namespace {

constexpr uint32_t known_code = 7;

bool decode_accumulate(uint32_t, AccumulateOp&) { return false; }
bool decode_swap(uint32_t code, CompareSwapOp& s) {
    s.bytes = sizeof(uint64_t);
    return code == known_code;
}

class RequestExecutorTest : public testing::Test {
  protected:
    RequestExecutorTest() {
        Diagnostic why;
        EXPECT_TRUE(segment::NodeSegment::make("executor_test", {0}, 1, segment_, why));
        engine_ = std::make_unique<ProgressEngine>(segment_, 0, 0);
        team_.engine = engine_.get();
        constexpr wire::WindowGeometry geometry{1, 1};
        control_ = coll::allocate_coll_memory(segment_, geometry.total_bytes());
        std::memset(segment_.coll_memory(control_), 0, geometry.total_bytes());
    }
    void execute(const wire::RmaRequest& head, const void* rest, const Region& own) {
        const std::vector<Region> regions{own};
        TargetTable targets(team_, control_, regions);
        RequestExecutor executor(targets, attached_, {decode_accumulate, decode_swap});
        executor.execute(head, static_cast<const std::byte*>(rest), reply_);
    }
    [[nodiscard]] uint64_t base() const { return reinterpret_cast<uint64_t>(memory_.data()); }
    [[nodiscard]] Region region() const { return {base(), sizeof memory_, 1, 0, 0, 0}; }
    [[nodiscard]] static Region dynamic_region() { return {0, Region::dynamic_size, 1, 0, 0, 0}; }
    [[nodiscard]] static wire::RmaRequest put_of(uint64_t offset, uint64_t bytes) {
        return {wire::RmaKind::put, 0, 0, 0, 0, sizeof(uint64_t), {offset, bytes}};
    }
    // The reply to the only request.
    [[nodiscard]] wire::RmaReply reply() const {
        wire::RmaReply first{};
        EXPECT_GE(reply_.bytes().size(), sizeof(wire::RmaBatchReply) + sizeof first);
        std::memcpy(&first, reply_.bytes().data() + sizeof(wire::RmaBatchReply), sizeof first);
        return first;
    }

    segment::NodeSegment segment_;
    std::unique_ptr<ProgressEngine> engine_;
    Team team_;
    uint64_t control_ = 0;
    AttachedRanges attached_;
    AmMessenger messenger_{team_};
    BatchReply reply_{messenger_, 0};
    std::array<uint64_t, 4> memory_{1, 2, 3, 4};
};

TEST_F(RequestExecutorTest, PutsOnlyInsideTheRegion) {
    const uint64_t value = 99;
    execute(put_of(8, 8), &value, region());
    EXPECT_EQ(memory_, (std::array<uint64_t, 4>{1, 99, 3, 4}));
    execute(put_of(32, 8), &value, region());
    execute(put_of(UINT64_MAX - 7, 8), &value, region());
    execute(put_of(0, 16), &value, region()); // fewer bytes than the segment
    EXPECT_EQ(memory_, (std::array<uint64_t, 4>{1, 99, 3, 4}));
    EXPECT_TRUE(reply_.empty());
}

TEST_F(RequestExecutorTest, PutsOnlyToAttachedMemory) {
    const uint64_t value = 99;
    execute(put_of(base(), 8), &value, dynamic_region());
    EXPECT_EQ(memory_[0], 1U);
    EXPECT_TRUE(attached_.attach(base(), sizeof memory_));
    execute(put_of(base(), 8), &value, dynamic_region());
    EXPECT_EQ(memory_[0], 99U);
}

TEST_F(RequestExecutorTest, GetsFurtherSegments) {
    const wire::RmaSegment second{24, 8};
    execute({wire::RmaKind::get, 0, 1, 0, 5, 0, {0, 8}}, &second, region());
    EXPECT_EQ(reply().id, 5U);
    EXPECT_EQ(reply().refused, wire::RmaRefusal::none);
    EXPECT_EQ(reply().bytes, 16U);
    std::array<uint64_t, 2> got{};
    std::memcpy(got.data(), reply_.bytes().data() + sizeof(wire::RmaBatchReply) + sizeof(wire::RmaReply), 16);
    EXPECT_EQ(got, (std::array<uint64_t, 2>{1, 4}));
}

TEST_F(RequestExecutorTest, RefusesWithAReply) {
    const wire::RmaSegment outside{32, 8};
    execute({wire::RmaKind::get, 0, 1, 0, 5, 0, {0, 8}}, &outside, region());
    EXPECT_EQ(reply().id, 5U);
    EXPECT_EQ(reply().refused, wire::RmaRefusal::out_of_window);
    EXPECT_EQ(reply().bytes, 0U);
}

TEST_F(RequestExecutorTest, SwapsKnownOperations) {
    const uint64_t operands[2] = {3, 30};
    execute({wire::RmaKind::compare_and_swap, 0, 0, known_code + 1, 6, sizeof operands, {16, 8}}, operands,
            region());
    EXPECT_EQ(memory_[2], 3U);
    EXPECT_EQ(reply().refused, wire::RmaRefusal::out_of_window); // replaces the reply with the previous value
    EXPECT_EQ(reply_.bytes().size(), sizeof(wire::RmaBatchReply) + sizeof(wire::RmaReply));
    execute({wire::RmaKind::compare_and_swap, 0, 0, known_code, 7, sizeof operands, {16, 8}}, operands,
            region());
    EXPECT_EQ(memory_[2], 30U);
}

} // namespace
} // namespace zipmpi::proto::rma
