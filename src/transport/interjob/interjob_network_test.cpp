// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two processes of different jobs, in one process: messages, rendezvous, shutdown and failure.
#include "transport/interjob/interjob_network.hpp"

#include <chrono>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

namespace zipmpi::interjob {
namespace {

using transport::Arrival;
using transport::OpStatus;

// Records what the network reports; noncontiguous memory is every second byte of `strided`.
struct RecordingListener final : transport::NetworkListener {
    std::vector<std::vector<std::byte>> messages;
    std::vector<IncomingBulk*> announced;
    uint64_t announced_bytes = 0;
    std::vector<OpStatus> sent;
    std::vector<OpStatus> fetched;
    int failures = 0;
    std::vector<std::byte> strided;

    void message_arrived(const Arrival& m) override {
        auto& message = messages.emplace_back(m.payload, m.payload + m.envelope.inline_bytes);
        message.insert(message.end(), m.bulk, m.bulk + m.bulk_bytes);
    }
    void rts_arrived(const Arrival&, IncomingBulk& bytes, uint64_t length) override {
        announced.push_back(&bytes);
        announced_bytes = length;
    }
    void send_finished(NetworkOperation*, OpStatus outcome) override { sent.push_back(outcome); }
    void fetch_finished(NetworkOperation*, OpStatus outcome) override { fetched.push_back(outcome); }
    void peer_failed(Peer, const char*) override { ++failures; }
    void pack(NetworkOperation*, uint64_t offset, std::byte* to, size_t bytes) override {
        for (size_t i = 0; i < bytes; ++i) to[i] = strided[2 * (offset + i)];
    }
    void unpack(NetworkOperation*, uint64_t offset, const std::byte* from, size_t bytes) override {
        for (size_t i = 0; i < bytes; ++i) strided[2 * (offset + i)] = from[i];
    }
    size_t list_iov(NetworkOperation*, iovec*, size_t) override { return 0; }
};

constexpr uint32_t own_context = 6;                                 // of a communicator within the job
constexpr uint32_t shared_context = wire::interjob_context_bit | 2; // of the communicator of the pair
constexpr uint32_t other_context = wire::interjob_context_bit | 4;  // of a communicator without the peer

bool is_in_use(uint32_t context) {
    return context == own_context || context == shared_context || context == other_context;
}

wire::Envelope eager(uint32_t context) { return {wire::MessageKind::eager, 0, 0, 0, context, 0, 0, 0}; }

const wire::Envelope rts{wire::MessageKind::rts, 0, 0, 0, shared_context, 0, 0, 0};

struct Process {
    RecordingListener listener;
    std::unique_ptr<InterJobNetwork> network;
    int other = 0; // external rank of the other process

    explicit Process(uint64_t job) {
        InterJobNetwork::InterJobConfig config;
        config.name = {job, 0, 0};
        config.first_peer = 100;
        config.listener = &listener;
        config.is_context_in_use = is_in_use;
        std::unique_ptr<transport::Network> inner;
        std::string why;
        network = InterJobNetwork::open(config, inner, why);
        EXPECT_NE(network, nullptr) << why;
    }
    [[nodiscard]] Peer peer() const { return static_cast<Peer>(network->connect_to(other)); }
};

struct Pair {
    Process a{1};
    Process b{2};
    const std::string key = transport::stream::random_bytes(transport::stream::key_bytes);

    Pair() {
        a.other = a.network->add_peer(b.network->contact_info(), key);
        b.other = b.network->add_peer(a.network->contact_info(), key);
        a.network->retain(a.other, shared_context);
        b.network->retain(b.other, shared_context);
    }
    bool wait(const std::function<bool()>& done) const {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!done()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            int happened = a.network != nullptr ? a.network->progress() : 0;
            happened += b.network != nullptr ? b.network->progress() : 0;
            if (happened == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        return true;
    }
};

std::vector<std::byte> pattern(size_t n) {
    std::vector<std::byte> data(n);
    for (size_t i = 0; i < n; ++i) data[i] = static_cast<std::byte>(i * 13 + (i >> 8));
    return data;
}

TEST(InterJobNetwork, MessagesArriveInOrder) {
    Pair p;
    constexpr size_t lengths[] = {0, 1, 5000, 1'000'000, 3};
    std::vector<std::vector<std::byte>> data;
    for (const size_t n : lengths) data.push_back(pattern(n));
    const std::byte payload[4] = {std::byte{9}, std::byte{8}, std::byte{7}, std::byte{6}};
    wire::Envelope envelope = eager(shared_context);
    envelope.inline_bytes = sizeof payload;
    NetworkOperation operation;
    size_t in_flight = 0;
    for (auto& d : data)
        if (p.a.network->send(p.a.peer(), envelope, payload, {d.data(), d.size(), &operation}) ==
            PostStatus::in_flight)
            ++in_flight;
    ASSERT_TRUE(p.wait([&] { return p.b.listener.messages.size() == data.size(); }));
    for (size_t i = 0; i < data.size(); ++i) {
        std::vector<std::byte> whole(payload, payload + sizeof payload);
        whole.insert(whole.end(), data[i].begin(), data[i].end());
        EXPECT_EQ(p.b.listener.messages[i], whole) << i;
    }
    EXPECT_EQ(p.a.listener.sent, std::vector<OpStatus>(in_flight, OpStatus::done));
}

TEST(InterJobNetwork, RendezvousDataIsPulled) {
    Pair p;
    auto data = pattern(700'000);
    std::vector<std::byte> to(data.size());
    NetworkOperation operation;
    ASSERT_EQ(p.a.network->send_rendezvous(p.a.peer(), rts, nullptr, {data.data(), data.size(), &operation}),
              PostStatus::in_flight);
    ASSERT_TRUE(p.wait([&] { return !p.b.listener.announced.empty(); }));
    EXPECT_EQ(p.b.listener.announced_bytes, data.size());
    EXPECT_FALSE(p.a.network->idle());
    p.b.network->fetch(*p.b.listener.announced[0], {to.data(), to.size(), &operation});
    ASSERT_TRUE(p.wait([&] { return !p.b.listener.fetched.empty() && !p.a.listener.sent.empty(); }));
    EXPECT_EQ(to, data);
    EXPECT_EQ(p.b.listener.fetched[0], OpStatus::done);
    EXPECT_TRUE(p.a.network->idle());
}

TEST(InterJobNetwork, NoncontiguousDataAndRefusal) {
    Pair p;
    constexpr size_t bytes = 300'000;
    p.a.listener.strided = pattern(2 * bytes);
    p.b.listener.strided.resize(2 * bytes);
    NetworkOperation operation;
    const BufferRef data{nullptr, bytes, &operation};
    for (int i = 0; i < 2; ++i)
        ASSERT_EQ(p.a.network->send_rendezvous(p.a.peer(), rts, nullptr, data), PostStatus::in_flight);
    ASSERT_TRUE(p.wait([&] { return p.b.listener.announced.size() == 2; }));
    p.b.network->drop(*p.b.listener.announced[0]);
    p.b.network->fetch(*p.b.listener.announced[1], data);
    ASSERT_TRUE(p.wait([&] { return p.b.listener.fetched.size() == 1 && p.a.listener.sent.size() == 2; }));
    for (size_t i = 0; i < bytes; ++i)
        ASSERT_EQ(p.b.listener.strided[2 * i], p.a.listener.strided[2 * i]) << i;
}

TEST(InterJobNetwork, BothSidesShutDownWithoutFailure) {
    Pair p;
    ASSERT_EQ(p.a.network->send(p.a.peer(), eager(shared_context), nullptr, {}), PostStatus::done);
    ASSERT_TRUE(p.wait([&] { return !p.b.listener.messages.empty(); }));
    p.a.network->set_shutting_down(true);
    p.b.network->set_shutting_down(true);
    ASSERT_TRUE(p.wait([&] { return p.a.network->idle() && p.b.network->idle(); }));
    EXPECT_EQ(p.a.listener.failures + p.b.listener.failures, 0);
}

// The dial of a process hangs when its peer says bye on another connection and exits.
TEST(InterJobNetwork, ExitAfterByeIsNoFailure) {
    Process a{1};
    Process b{2};
    auto silent = std::make_unique<Process>(3);
    const std::string key = transport::stream::random_bytes(transport::stream::key_bytes);
    ContactInfo unresponsive = silent->network->contact_info();
    unresponsive.name = a.network->contact_info().name;
    a.other = a.network->add_peer(b.network->contact_info(), key);
    b.other = b.network->add_peer(unresponsive, key);
    a.network->retain(a.other, shared_context);
    b.network->retain(b.other, shared_context);
    const auto progress_until = [&](const std::function<bool()>& done) {
        for (int i = 0; i < 4000 && !done(); ++i) {
            if (a.network != nullptr) a.network->progress();
            b.network->progress();
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        return done();
    };
    static_cast<void>(a.network->send(a.peer(), eager(shared_context), nullptr, {}));
    ASSERT_TRUE(progress_until([&] { return !b.listener.messages.empty(); }));
    a.network->release(a.other, shared_context);
    a.network->progress();
    a.network.reset();
    silent.reset(); // the dial fails
    EXPECT_FALSE(progress_until([&] { return b.listener.failures != 0; }));
}

// Two processes disconnect at any time during the setup of their connections. Each makes progress only until
// its own side is closed.
TEST(InterJobNetwork, BothSidesClose) {
    for (int steps = 0; steps < 16; ++steps) {
        Pair p;
        for (int i = 0; i < steps; ++i) (i % 2 == 0 ? p.a : p.b).network->progress();
        p.a.network->release(p.a.other, shared_context);
        p.b.network->release(p.b.other, shared_context);
        const auto closing = [](const Process& one) { return one.network->is_closing(one.other); };
        int rounds = 0;
        for (; rounds < 20000 && (closing(p.a) || closing(p.b)); ++rounds) {
            if (closing(p.a)) p.a.network->progress();
            if (closing(p.b)) p.b.network->progress();
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        EXPECT_LT(rounds, 20000) << steps;
        EXPECT_EQ(p.a.listener.failures + p.b.listener.failures, 0) << steps;
    }
}

TEST(InterJobNetwork, EndWithoutByeIsAFailure) {
    Pair p;
    std::vector<std::byte> data = pattern(100);
    NetworkOperation operation;
    ASSERT_EQ(p.a.network->send_rendezvous(p.a.peer(), rts, nullptr, {data.data(), data.size(), &operation}),
              PostStatus::in_flight);
    ASSERT_TRUE(p.wait([&] { return !p.b.listener.announced.empty(); }));
    p.b.network.reset();
    ASSERT_TRUE(p.wait([&] { return p.a.listener.failures == 1; }));
    EXPECT_EQ(p.a.listener.sent, std::vector{OpStatus::failed});
    EXPECT_EQ(p.a.network->connect_to(p.a.other), -1);
}

// A connected job has no business in communicators that it is not in.
TEST(InterJobNetwork, ContextsOfOtherCommunicatorsAreRejected) {
    constexpr uint32_t in_creation = wire::interjob_context_bit | 8;
    for (const uint32_t context :
         {shared_context, shared_context | 1U, shared_context | 1U << 31, in_creation}) {
        Pair p;
        ASSERT_EQ(p.a.network->send(p.a.peer(), eager(context), nullptr, {}), PostStatus::done);
        EXPECT_TRUE(p.wait([&] { return !p.b.listener.messages.empty(); })) << context;
    }
    const auto rejects = [](const wire::Envelope& envelope, const std::byte* payload) {
        Pair p;
        static_cast<void>(p.a.network->send(p.a.peer(), envelope, payload, {}));
        const bool done =
            p.wait([&] { return p.b.network->rejected_messages() != 0 || !p.b.listener.messages.empty(); });
        return done && p.b.listener.messages.empty();
    };
    for (const uint32_t context :
         {0U, own_context, own_context | 1U, other_context, other_context | 1U << 31})
        EXPECT_TRUE(rejects(eager(context), nullptr)) << context;
    std::byte payload[sizeof own_context];
    std::memcpy(payload, &own_context, sizeof own_context);
    for (const auto kind : {wire::MessageKind::revoke, wire::MessageKind::context_release})
        EXPECT_TRUE(rejects({kind, 0, sizeof payload, 0, 0, 0, 0, 0}, payload));
}

TEST(InterJobNetwork, ContextIsClosedWithItsCommunicator) {
    Pair p;
    p.b.network->retain(p.b.other, other_context);
    p.b.network->release(p.b.other, other_context);
    static_cast<void>(p.a.network->send(p.a.peer(), eager(other_context), nullptr, {}));
    ASSERT_TRUE(p.wait([&] { return p.b.network->rejected_messages() != 0; }));
    EXPECT_TRUE(p.b.listener.messages.empty());
}

TEST(InterJobNetwork, UnknownProcessWithAValidKeyIsRejected) {
    Process a{1};
    Process b{2};
    const std::string key = transport::stream::random_bytes(transport::stream::key_bytes);
    ContactInfo another = a.network->contact_info();
    another.name.rank = 5;
    a.other = a.network->add_peer(b.network->contact_info(), key);
    b.other = b.network->add_peer(another, key);
    a.network->retain(a.other, shared_context);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (b.network->rejected_messages() == 0 && std::chrono::steady_clock::now() < deadline) {
        a.network->progress();
        b.network->progress();
    }
    EXPECT_GT(b.network->rejected_messages(), 0U);
    EXPECT_TRUE(b.listener.messages.empty());
}

} // namespace
} // namespace zipmpi::interjob
