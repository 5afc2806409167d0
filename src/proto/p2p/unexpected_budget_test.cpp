// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks send messages without a receive until the receiver's budget is used up.
#include "base/param.hpp"
#include "packing/layout_node.hpp"
#include "proto/p2p/test_engine_pair.hpp"

#include <list>
#include <string>
#include <vector>

namespace zipmpi::proto {
namespace {

constexpr uint64_t limit = 2 * MiB;

void set_limits(const char* total, const char* peer) {
    const std::string total_entry = std::string("ZIPMPI_P2P_UNEXPECTED_LIMIT=") + total;
    const std::string peer_entry = std::string("ZIPMPI_P2P_UNEXPECTED_PEER_LIMIT=") + peer;
    const char* const settings[] = {total_entry.c_str(), peer_entry.c_str(), nullptr};
    ASSERT_TRUE(load_params(settings).empty());
}

struct PeerLimit {
    PeerLimit() { set_limits("1G", "2M"); }
};
struct TotalLimit {
    TotalLimit() { set_limits("2M", "2M"); }
};

// Sets the parameters before the engines are constructed. Rank 0 sends to rank 1, or each to the other.
template <class SetLimits>
class UnexpectedBudgetTest : public testing::Test {
  protected:
    ~UnexpectedBudgetTest() override { set_limits("-1", "-1"); }
    struct Send {
        Operation op;
        std::vector<uint32_t> data;
    };
    Send& send(size_t words, int from = 0) {
        std::list<Send>& sends = sends_[from];
        Send& s = sends.emplace_back();
        s.data.assign(words, static_cast<uint32_t>(sends.size()));
        set_send(s.op, pair_.teams[from], s.data.data(), words * sizeof(uint32_t), 1 - from, 5);
        pair_.engines[from]->start_send(s.op);
        for (int i = 0; i < 3 && !s.op.done(); ++i) pair_.progress_until_idle();
        return s;
    }
    // Sends until one does not complete. Returns their number.
    size_t flood(size_t words, int from = 0) {
        size_t n = 0;
        while (send(words, from).op.done() && n < 2 * limit / sizeof(uint32_t)) ++n;
        return n;
    }
    // Receives one message and checks that it is the next in order.
    void receive(size_t words, int from = 0) {
        std::vector<uint32_t> data(words);
        Operation op;
        set_recv(op, pair_.teams[1 - from], data.data(), words * sizeof(uint32_t), from, 5);
        pair_.engines[1 - from]->start_recv(op);
        for (int i = 0; i < 100 && !op.done(); ++i) pair_.progress_until_idle();
        pair_.progress_until_idle(); // the reply to the sender
        ASSERT_TRUE(op.done());
        ASSERT_EQ(op.received, words * sizeof(uint32_t));
        ++received_[from];
        ASSERT_EQ(data.front(), received_[from]);
        ASSERT_EQ(data.back(), received_[from]);
    }
    void receive_all(size_t words, int from = 0) {
        while (received_[from] < sends_[from].size()) receive(words, from);
        for (const auto& s : sends_[from]) EXPECT_TRUE(s.op.done());
        EXPECT_EQ(memory(1 - from), 0U);
    }
    uint64_t memory(int rank = 1) { return pair_.engines[rank]->receiver().budget().total(); }

    SetLimits limits_;
    EnginePair pair_;
    std::list<Send> sends_[2];
    uint32_t received_[2] = {};
};

using AllLimits = testing::Types<PeerLimit, TotalLimit>;
TYPED_TEST_SUITE(UnexpectedBudgetTest, AllLimits);

// Eager messages with data, and short ones: beyond the limit a send waits for its receive, until half of the
// memory is free again.
TYPED_TEST(UnexpectedBudgetTest, SenderHoldsAndResumes) {
    for (const size_t words : {size_t{512}, size_t{1}}) {
        const size_t n = this->flood(words);
        EXPECT_GE(this->memory(), limit);
        EXPECT_LT(this->memory(), limit + limit / 4);
        EXPECT_GT(n, limit / 4096);
        this->receive(words);
        EXPECT_FALSE(this->send(words).op.done());
        this->receive_all(words);
        EXPECT_TRUE(this->send(words).op.done());
        this->receive(words);
    }
}

// Two ranks that hold each other's messages still receive replies.
TYPED_TEST(UnexpectedBudgetTest, BothHold) {
    for (const size_t words : {size_t{512}, size_t{1}}) {
        this->flood(words, 0);
        this->flood(words, 1);
        for (const int from : {0, 1}) EXPECT_FALSE(this->send(words, from).op.done());
        for (const int from : {0, 1}) this->receive_all(words, from);
        for (const int from : {0, 1}) {
            EXPECT_TRUE(this->send(words, from).op.done());
            this->receive(words, from);
        }
    }
}

TYPED_TEST(UnexpectedBudgetTest, HeldSendIsCancelled) {
    this->flood(1);
    for (const size_t words : {size_t{1}, size_t{512}}) {
        const uint64_t before = this->memory();
        Operation& op = this->send(words).op;
        this->pair_.engines[0]->cancel(op);
        this->pair_.progress_until_idle();
        EXPECT_TRUE(op.done() && op.cancelled);
        EXPECT_EQ(this->memory(), before);
        this->sends_[0].pop_back();
    }
    this->receive_all(1);
}

// The bytes of held messages stay in the send buffer, also if it is noncontiguous.
TYPED_TEST(UnexpectedBudgetTest, HeldNoncontiguousSendsTakeNoMemory) {
    constexpr int64_t blocks = 64;
    constexpr int64_t block = 32;
    const packing::LayoutPtr layout =
        packing::compile(packing::repeat(packing::run(block), blocks, 2 * block), 2 * blocks * block);
    constexpr size_t words = blocks * block / sizeof(uint32_t);
    const size_t n = this->flood(words);
    const uint64_t before = this->memory();
    std::vector<uint32_t> data(2 * words, static_cast<uint32_t>(n + 2));
    std::vector<Operation> sends(100);
    for (Operation& op : sends) {
        set_send(op, this->pair_.teams[0], data.data(), blocks * block, 1, 5);
        op.layout = layout.get();
        op.elements = 1;
        this->pair_.engines[0]->start_send(op);
        this->pair_.progress_until_idle();
    }
    EXPECT_LT(this->memory() - before, sends.size() * blocks * block / 2);
    while (this->received_[0] < this->sends_[0].size()) this->receive(words);
    for (Operation& op : sends) {
        EXPECT_FALSE(op.done());
        this->receive(words);
        EXPECT_TRUE(op.done());
        --this->received_[0]; // all have the same content
    }
    EXPECT_EQ(this->memory(), 0U);
}

} // namespace
} // namespace zipmpi::proto
