// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/match.hpp"
#include "proto/p2p/rts_policy.hpp"
#include "proto/p2p/skew_buffer.hpp"
#include "proto/p2p/test_engine_pair.hpp"

#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <list>
#include <random>

namespace zipmpi::proto {
namespace {

constexpr uint64_t ms = 1'000'000;

Operation send_of(std::vector<std::byte>& data) {
    Operation op;
    op.kind = Operation::Kind::send;
    op.buffer = data.data();
    op.bytes = data.size();
    return op;
}

TEST(SkewBuffer, CopiesOnlyForLaggingReceivers) {
    SkewBuffer skew(2);
    std::vector<std::byte> data(1000, std::byte{3});
    const Operation send = send_of(data);
    EXPECT_EQ(skew.copy_for(send), nullptr);
    skew.on_reply(0, 5, 1000, 100 * ms); // slow, with unexpected messages
    Operation* copy = skew.copy_for(send);
    ASSERT_NE(copy, nullptr);
    EXPECT_FALSE(skew.empty());
    EXPECT_EQ(std::memcmp(copy->buffer, data.data(), data.size()), 0);
    EXPECT_NE(copy->buffer, send.buffer);
    copy->on_done(*copy);
    EXPECT_TRUE(skew.empty());
    Operation synchronous = send;
    synchronous.synchronous = true;
    EXPECT_EQ(skew.copy_for(synchronous), nullptr) << "it must wait for its receiver";
    for (int i = 0; i < 16; ++i) skew.on_reply(0, 0, 1000, 200 * ms);
    EXPECT_EQ(skew.copy_for(send), nullptr) << "the receiver has caught up";
}

TEST(SkewBuffer, FastRepliesDoNotEnableCopies) {
    SkewBuffer skew(1);
    std::vector<std::byte> data(100);
    skew.on_reply(0, 0, 100, 100 * ms);
    for (uint64_t i = 1; i < 50; ++i) skew.on_reply(0, 60, 100, 100 * ms + i * 1000);
    EXPECT_EQ(skew.copy_for(send_of(data)), nullptr);
}

// Four messages wait at a receiver that then receives one of them: whether the next send completes at once.
bool copies_ahead(uint32_t cpus) {
    EnginePair p;
    p.segment.set_usable_cpus(cpus);
    std::vector<char> out(100'000, 'a'), in(out.size());
    std::deque<Operation> sends;
    const auto send = [&] {
        sends.push_back(make_send(p.teams[0], out.data(), out.size(), 1, 5));
        p.engines[0]->start_send(sends.back());
        p.progress_until_idle();
    };
    const auto receive = [&] {
        Operation recv = make_recv(p.teams[1], in.data(), in.size(), 0, 5);
        p.engines[1]->start_recv(recv);
        p.progress_until_idle();
        EXPECT_TRUE(recv.done());
    };
    for (int i = 0; i < 4; ++i) send();
    receive();
    send();
    const bool copied = sends.back().done();
    for (int i = 0; i < 4; ++i) receive();
    for (const Operation& op : sends) EXPECT_TRUE(op.done());
    return copied;
}

TEST(SkewBuffer, CopiesOnlyWhileEachRankHasACpu) {
    EXPECT_TRUE(copies_ahead(2));
    EXPECT_FALSE(copies_ahead(1)) << "the copy takes time from the receiver";
}

TEST(RtsPolicy, SkipsRtsAfterRepeatedCts) {
    RtsPolicy policy;
    EXPECT_FALSE(policy.should_skip_rts());
    for (int i = 0; i < 4; ++i) policy.on_cts();
    int rts_sent = 0;
    for (int i = 0; i < 640; ++i) {
        if (policy.should_skip_rts()) continue;
        EXPECT_FALSE(policy.should_skip_rts()) << "a probe stays due until its rts was sent";
        policy.on_rts();
        ++rts_sent;
    }
    EXPECT_EQ(rts_sent, 10) << "one in 64 still sends an rts";
    policy.on_single_copy();
    EXPECT_FALSE(policy.should_skip_rts());
}

// Reference implementation: linear search in order.
struct Model {
    std::list<Operation*> posted;
    std::deque<wire::Envelope> unexpected;
    static bool matches(const Operation& r, const wire::Envelope& e) {
        return r.context == e.context && (r.source == any_source || r.source == e.source) &&
               (r.tag == any_tag || r.tag == e.tag);
    }
};

// Phases with and without wildcards, since receives are posted in other queues while there are any. Some tags
// share an exact queue.
TEST(Matcher, AgreesWithLinearSearch) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Matcher matcher;
    Model model;
    std::deque<Operation> receives;
    const auto tag = [&] { return below(3) * (below(4) == 0 ? 64 : 1); };
    for (int step = 0; step < 40000; ++step) {
        const bool wildcards = step / 500 % 2 == 0;
        if (below(2) == 0) { // a message arrives
            wire::Envelope e{};
            e.context = static_cast<uint32_t>(2 * below(3));
            e.source = below(4);
            e.tag = tag();
            e.sync_id = static_cast<uint32_t>(step);
            const auto fit = std::find_if(model.posted.begin(), model.posted.end(),
                                          [&](const Operation* r) { return Model::matches(*r, e); });
            Operation* const got = matcher.take_posted(e);
            ASSERT_EQ(got, fit != model.posted.end() ? *fit : nullptr);
            if (got != nullptr) {
                model.posted.erase(fit);
            } else {
                model.unexpected.push_back(e);
                IncomingMessage message;
                message.envelope = e;
                ASSERT_NE(matcher.unexpected().store(message), nullptr);
            }
        } else { // a receive is posted
            Operation r;
            r.kind = Operation::Kind::recv;
            r.context = static_cast<uint32_t>(2 * below(3));
            r.source = wildcards && below(3) == 0 ? any_source : below(4);
            r.tag = wildcards && below(3) == 0 ? any_tag : tag();
            const auto fit = std::find_if(model.unexpected.begin(), model.unexpected.end(),
                                          [&](const wire::Envelope& e) { return Model::matches(r, e); });
            UnexpectedMessage* const got = matcher.unexpected().find(r.context, r.source, r.tag);
            ASSERT_EQ(got != nullptr, fit != model.unexpected.end());
            if (got != nullptr) {
                ASSERT_EQ(got->message.envelope.sync_id, fit->sync_id);
                matcher.unexpected().discard(*got);
                model.unexpected.erase(fit);
            } else if (below(10) != 0) {
                receives.push_back(r);
                matcher.post(receives.back());
                model.posted.push_back(&receives.back());
            } else if (!model.posted.empty()) { // a receive is unposted
                const auto any =
                    std::next(model.posted.begin(), below(static_cast<int>(model.posted.size())));
                matcher.unpost(**any);
                model.posted.erase(any);
            }
        }
        ASSERT_EQ(matcher.unexpected().count(), model.unexpected.size());
    }
}

} // namespace
} // namespace zipmpi::proto
