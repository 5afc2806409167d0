// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two ends and lanes between them that lose, double, reorder and delay frames, die and return, against a
// simple model: every message comes once, in order, with the right bytes.
#include "bridge/end.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <utility>

namespace zipmpi::bridge {
namespace {

constexpr uint64_t job = 9;
constexpr int lanes = 3;
constexpr uint64_t us = 1000;

uint64_t clock_ns = 1;

struct Flaws {
    double lost = 0, doubled = 0, reordered = 0, dies = 0;
    bool answers = true; // gateways answer beats
    bool sealed = false;
    double changed = 0; // a byte behind the header, where nobody trusts the link
};

// Of no worth but for tests: hides bytes, and notices every change.
class ToySealer final : public transport::ucx::Sealer {
  public:
    bool seal(const About& about, std::span<std::byte> head, std::span<const std::byte> data, std::byte* out,
              uint8_t (&tag)[wire::seal_tag_bytes]) override {
        uint64_t sum = begin(about);
        std::vector<std::byte> text(head.begin(), head.end());
        text.insert(text.end(), data.begin(), data.end());
        for (const std::byte b : text) add(sum, b);
        hide(about, text);
        std::copy_n(text.begin(), head.size(), head.begin());
        std::copy(text.begin() + static_cast<ptrdiff_t>(head.size()), text.end(), out);
        std::memcpy(tag, &sum, sizeof sum);
        return true;
    }
    bool open(const About& about, Part first, Part second,
              const uint8_t (&tag)[wire::seal_tag_bytes]) override {
        uint64_t sum = begin(about);
        std::vector<std::byte> text(first.from.begin(), first.from.end());
        text.insert(text.end(), second.from.begin(), second.from.end());
        hide(about, text);
        for (const std::byte b : text) add(sum, b);
        std::copy_n(text.begin(), first.from.size(), first.to);
        std::copy(text.begin() + static_cast<ptrdiff_t>(first.from.size()), text.end(), second.to);
        return std::memcmp(tag, &sum, sizeof sum) == 0;
    }

  private:
    static void add(uint64_t& sum, std::byte b) { sum = (sum ^ static_cast<uint8_t>(b)) * 0x100000001b3; }
    static uint64_t begin(const About& about) {
        uint64_t sum =
            about.number * 1000003 + static_cast<uint64_t>(about.from) * 31 + static_cast<uint64_t>(about.to);
        for (const std::byte b : about.shown) add(sum, b);
        return sum;
    }
    static void hide(const About& about, std::span<std::byte> text) {
        for (size_t i = 0; i < text.size(); ++i) text[i] ^= static_cast<std::byte>(about.number * 13 + i);
    }
};

std::byte byte_of(uint64_t message, uint64_t at) {
    return static_cast<std::byte>(message * 31 + at * 7 + at / 255);
}

struct InFlight {
    uint64_t due;
    std::vector<std::byte> head, data;
    void* ticket;
};

class Side;

struct Wire { // one direction of a lane
    std::vector<InFlight> frames;
};

class World {
  public:
    World(unsigned seed, const Flaws& flaws);
    bool run(int messages);
    bool leave();
    Posted post(int from, int lane, std::span<const std::byte> head, std::span<const std::byte> data,
                void* ticket);
    void step();
    std::mt19937 random;
    Flaws flaws;
    std::unique_ptr<Side> sides[2];
    Wire wires[2][lanes];
    bool alive[lanes] = {true, true, true};
    bool gone[2] = {false, false};
    bool stopped[2][lanes] = {}; // the gateway hangs: nothing of this side is read any more
    bool cut[lanes] = {};        // nothing comes through, in neither direction, and nobody is told
    uint64_t most_retained = 0;
    bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random) < p; }

  private:
    void deliver(int side, int lane);
    void change_a_byte(InFlight& frame);
    void tamper();
};

struct Job { // of the user: one message
    uint64_t number;
    std::vector<std::byte> bytes;
    bool done = false;
};

class Side {
  public:
    Side(World& world, int id)
        : world_(world)
        , id_(id)
        , end_(id, job, lanes, limits(), sink(), outside()) {
        for (int l = 0; l < lanes; ++l) end_.lane_up(l);
    }
    static EndLimits limits() {
        EndLimits l;
        l.resend_ns = 50'000 * us;
        l.beat_ns = 5'000 * us;
        l.silence_ns = 20'000 * us;
        return l;
    }
    void begin(uint64_t bytes) {
        Job& j = *sends_.emplace_back(std::make_unique<Job>());
        j.number = sends_.size() - 1;
        j.bytes.resize(bytes);
        for (uint64_t i = 0; i < bytes; ++i) j.bytes[i] = byte_of(j.number, i);
        waiting_.push_back(&j);
    }
    void work() {
        while (!waiting_.empty() && post(*waiting_.front())) waiting_.pop_front();
        // A long message is received some time after it was announced, or at once.
        while (!announced_.empty() && world_.chance(0.1)) receive_one();
        end_.advance();
    }
    [[nodiscard]] bool finished() const {
        return waiting_.empty() && end_.idle() && announced_.empty() && receiving_ == 0 &&
               std::ranges::all_of(sends_, [](const auto& j) { return j->done; });
    }
    End& end() { return end_; }
    uint64_t arrived = 0;
    size_t begun() const { return sends_.size(); }

  private:
    bool post(Job& j) {
        const Peer to = end_.flow(1 - id_);
        wire::Envelope e{wire::Kind::eager, 0, 8, 0, 3, id_, static_cast<int>(j.number % 1000), 0};
        const Memory data{j.bytes.data(), j.bytes.size(), &j};
        const auto* payload = reinterpret_cast<const std::byte*>(&j.number);
        if (j.bytes.size() <= wire::frame_chunk) {
            const Posted p = end_.send(to, e, payload, data);
            if (p == Posted::would_block) return false;
            j.done = p == Posted::done;
            if (j.done) std::ranges::fill(j.bytes, std::byte{0xee}); // the memory is the user's again
            return true;
        }
        e.kind = wire::Kind::rts;
        return end_.send_long(to, e, payload, data) == Posted::under_way;
    }
    void check(uint64_t number, std::span<const std::byte> bytes) {
        for (uint64_t i = 0; i < bytes.size(); ++i)
            if (bytes[i] != byte_of(number, i)) {
                ADD_FAILURE() << "message " << number << " is wrong at " << i << " of " << bytes.size();
                std::abort();
            }
    }
    uint64_t take_number(const transport::Arrival& a) {
        uint64_t number = 0;
        EXPECT_EQ(a.envelope.inline_bytes, sizeof number);
        std::memcpy(&number, a.payload, sizeof number);
        EXPECT_EQ(number, arrived);
        EXPECT_EQ(a.envelope.tag, static_cast<int>(number % 1000));
        ++arrived;
        return number;
    }
    struct Announced {
        LongReceive* message;
        Job job;
    };
    void receive_one() {
        Announced* const a = announced_.back();
        announced_.pop_back();
        ++receiving_;
        end_.receive(*a->message, {a->job.bytes.data(), a->job.bytes.size(), a});
    }
    transport::ucx::Sink sink() {
        transport::ucx::Sink s{};
        s.subject = this;
        s.arrived = [](void* self, const transport::Arrival& a) {
            auto& side = *static_cast<Side*>(self);
            side.check(side.take_number(a), {a.bulk, a.bulk_bytes});
        };
        s.announced = [](void* self, const transport::Arrival& a, transport::ucx::Arriving& bytes,
                         uint64_t length) {
            auto& side = *static_cast<Side*>(self);
            auto* made = new Announced{reinterpret_cast<LongReceive*>(&bytes), {}};
            made->job.number = side.take_number(a);
            made->job.bytes.resize(length);
            side.announced_.push_back(made);
            if (side.world_.chance(0.5)) side.receive_one();
        };
        s.sent = [](void*, void* operation, Outcome outcome) {
            EXPECT_EQ(outcome, Outcome::done);
            EXPECT_FALSE(static_cast<Job*>(operation)->done);
            static_cast<Job*>(operation)->done = true;
            std::ranges::fill(static_cast<Job*>(operation)->bytes, std::byte{0xee});
        };
        s.received = [](void* self, void* operation, Outcome outcome) {
            auto& side = *static_cast<Side*>(self);
            EXPECT_EQ(outcome, Outcome::done);
            const std::unique_ptr<Announced> a(static_cast<Announced*>(operation));
            side.check(a->job.number, a->job.bytes);
            --side.receiving_;
        };
        s.lost = [](void*, Peer, const char*) { ADD_FAILURE() << "lost"; };
        return s;
    }
    EndWorld outside() {
        EndWorld w;
        w.subject = this;
        w.send = [](void* self, int lane, std::span<const std::byte> head, std::span<const std::byte> data,
                    void* ticket) {
            auto& side = *static_cast<Side*>(self);
            return side.world_.post(side.id_, lane, head, data, ticket);
        };
        w.lanes_to = [](void*, int) { return std::vector<int>{0, 1, 2}; };
        w.now_ns = [] { return clock_ns; };
        w.close_lane = [](void*, int) {};
        if (world_.flaws.sealed) w.sealer = &sealer_;
        return w;
    }
    World& world_;
    int id_;
    ToySealer sealer_;
    End end_;
    std::vector<std::unique_ptr<Job>> sends_;
    std::deque<Job*> waiting_;
    std::vector<Announced*> announced_;
    int receiving_ = 0;
};

World::World(unsigned seed, const Flaws& f)
    : random(seed)
    , flaws(f) {
    sides[0] = std::make_unique<Side>(*this, 0);
    sides[1] = std::make_unique<Side>(*this, 1);
}

Posted World::post(int from, int lane, std::span<const std::byte> head, std::span<const std::byte> data,
                   void* ticket) {
    if (!alive[lane]) return Posted::failed;
    if (cut[lane] || (stopped[from][lane] && ticket == nullptr)) return Posted::done;
    const bool referenced = ticket != nullptr && !data.empty();
    const auto add = [&](void* t) {
        const uint64_t jitter = chance(flaws.reordered) ? random() % (3000 * us) : 0;
        wires[from][lane].frames.push_back(
            {clock_ns + 50 * us + jitter, {head.begin(), head.end()}, {data.begin(), data.end()}, t});
    };
    add(referenced ? ticket : nullptr);
    if (chance(flaws.doubled)) add(nullptr);
    return referenced ? Posted::under_way : Posted::done;
}

void World::change_a_byte(InFlight& f) {
    const size_t behind = f.head.size() - sizeof(wire::Frame);
    const size_t at = random() % std::max<size_t>(behind + f.data.size(), 1);
    if (at < behind)
        f.head[sizeof(wire::Frame) + at] ^= std::byte{4};
    else if (at - behind < f.data.size())
        f.data[at - behind] ^= std::byte{4};
}

void World::deliver(int side, int lane) {
    auto& frames = wires[side][lane].frames;
    for (size_t i = 0; i < frames.size();) {
        if (frames[i].due > clock_ns) {
            ++i;
            continue;
        }
        InFlight f = std::move(frames[i]);
        frames.erase(frames.begin() + static_cast<ptrdiff_t>(i));
        wire::Frame frame{};
        std::memcpy(&frame, f.head.data(), sizeof frame);
        const uint64_t bytes = f.head.size() + f.data.size();
        if (f.ticket != nullptr) sides[side]->end().left(f.ticket);
        if (frame.type < wire::FrameType::credit && chance(flaws.changed)) change_a_byte(f);
        if (frame.type == wire::FrameType::beat || bytes != 0) { // what a gateway says to the one who sent
            wire::Frame answer{};
            answer.type =
                frame.type == wire::FrameType::beat ? wire::FrameType::beat : wire::FrameType::credit;
            answer.flags = wire::frame_answer;
            answer.job = job;
            answer.to = side;
            answer.length = bytes;
            answer.sequence = frame.sequence;
            close(answer);
            sides[side]->end().take(lane, std::as_bytes(std::span(&answer, 1)), {});
        }
        if (frame.type == wire::FrameType::beat || gone[1 - side] || chance(flaws.lost)) continue;
        sides[1 - side]->end().take(lane, f.head, f.data);
    }
}

void World::tamper() {
    if (!chance(flaws.dies)) return;
    const int lane = static_cast<int>(random() % lanes);
    if (alive[lane]) {
        alive[lane] = false;
        for (int side = 0; side < 2; ++side) {
            auto lost = std::move(wires[side][lane].frames);
            wires[side][lane].frames.clear();
            for (const InFlight& f : lost)
                if (f.ticket != nullptr) sides[side]->end().left(f.ticket);
            sides[side]->end().lane_down(lane);
        }
    } else {
        alive[lane] = true;
        for (auto& side : sides) side->end().lane_up(lane);
    }
}

void World::step() {
    clock_ns += 20 * us;
    tamper();
    for (int side = 0; side < 2; ++side) {
        for (int lane = 0; lane < lanes; ++lane) deliver(side, lane);
        if (!gone[side]) sides[side]->work();
        most_retained = std::max(most_retained, sides[side]->end().retained_bytes());
    }
}

// One side goes as soon as it may, and with it what no gateway has read yet; the other needs it no more.
bool World::leave() {
    const auto wait = [&](int side) {
        sides[side]->end().leaving(true);
        for (int rounds = 0; rounds < 100'000 && !sides[side]->finished(); ++rounds) step();
        return sides[side]->finished();
    };
    if (!wait(0)) return false;
    gone[0] = true;
    for (Wire& wire : wires[0]) wire.frames.clear();
    return wait(1);
}

bool World::run(int messages) {
    for (int i = 0; i < messages; ++i) {
        static constexpr uint64_t sizes[] = {0,      1,      8,      1000,   5000,   70000,
                                             131072, 131073, 262144, 300000, 1500000};
        sides[random() % 2]->begin(sizes[random() % std::size(sizes)]);
        if (chance(0.5)) step();
    }
    for (int rounds = 0; rounds < 2'000'000; ++rounds) {
        if (sides[0]->finished() && sides[1]->finished()) break;
        step();
    }
    return sides[0]->finished() && sides[1]->finished() && sides[0]->arrived == sides[1]->begun() &&
           sides[1]->arrived == sides[0]->begun();
}

unsigned seed_of_this_run() {
    const char* given = std::getenv("BRIDGE_TEST_SEED");
    const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device{}();
    std::printf("seed %u (repeat with BRIDGE_TEST_SEED=%u)\n", seed, seed);
    return seed;
}

// The lane is gone, and so is the rank at its other end, but the network still has the memory: the send ends
// when it lets go.
TEST(End, a_given_up_send_ends_when_the_network_lets_go) {
    struct Outside {
        std::vector<void*> in_network;
        int failed = 0;
    } outside;
    transport::ucx::Sink sink{};
    sink.subject = &outside;
    sink.sent = [](void* self, void*, Outcome outcome) {
        static_cast<Outside*>(self)->failed += outcome == Outcome::failed ? 1 : 0;
    };
    sink.lost = [](void*, Peer, const char*) {};
    EndWorld world;
    world.subject = &outside;
    world.send = [](void* self, int, std::span<const std::byte>, std::span<const std::byte> data,
                    void* ticket) {
        if (ticket == nullptr || data.empty()) return Posted::done;
        static_cast<Outside*>(self)->in_network.push_back(ticket);
        return Posted::under_way;
    };
    world.lanes_to = [](void*, int) { return std::vector<int>{0}; };
    world.now_ns = [] { return clock_ns; };
    world.close_lane = [](void*, int) {};
    End end(0, job, 1, Side::limits(), sink, world);
    end.lane_up(0);
    std::vector<std::byte> data(1 << 20);
    const wire::Envelope e{wire::Kind::rts, 0, 0, 0, 3, 0, 1, 0};
    int operation = 0;
    ASSERT_EQ(end.send_long(end.flow(1), e, nullptr, {data.data(), data.size(), &operation}),
              Posted::under_way);
    end.advance();
    ASSERT_FALSE(outside.in_network.empty());
    end.lane_down(0);
    end.give_up(1);
    EXPECT_EQ(outside.failed, 0);
    for (void* const ticket : std::exchange(outside.in_network, {})) end.left(ticket);
    EXPECT_EQ(outside.failed, 1);
}

TEST(End, good_lanes) {
    World world(1, {});
    EXPECT_TRUE(world.run(200));
    EXPECT_EQ(world.sides[0]->end().counters().duplicates, 0U);
    EXPECT_EQ(world.sides[0]->end().counters().sent_again, 0U);
}

TEST(End, one_leaves_first) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        World world(seed, {});
        for (int i = 0; i < 20; ++i) world.sides[1]->begin(i % 2 == 0 ? 8 : 300000);
        while (world.sides[0]->arrived < 20) world.step();
        EXPECT_TRUE(world.leave()) << "seed " << seed;
    }
}

// The end of a job waits for this: a round trip to the gateway, no beat of its own.
TEST(End, who_leaves_asks_at_once) {
    World world(1, {});
    End& leaves = world.sides[0]->end();
    leaves.leaving(true);
    world.sides[1]->begin(8);
    while (world.sides[0]->arrived < 1) world.step();
    leaves.flush_before_sleep();
    EXPECT_FALSE(leaves.idle());
    const uint64_t begin = clock_ns;
    while (!leaves.idle() && clock_ns - begin < 5'000 * us) world.step();
    EXPECT_LT(clock_ns - begin, 200 * us);
}

// A side that only receives has nothing under way that it would miss an answer to.
TEST(End, a_lane_that_loses_acknowledgements_is_found) {
    World world(1, {});
    for (bool& lane : world.stopped[1]) lane = &lane == world.stopped[1];
    const uint64_t begin = clock_ns;
    for (int i = 0; i < 20; ++i) world.sides[0]->begin(i % 2 == 0 ? 8 : 300000);
    while (!world.sides[0]->finished() && clock_ns - begin < 1'000'000 * us) world.step();
    EXPECT_LT(clock_ns - begin, 100'000 * us);
    EXPECT_GT(world.sides[1]->end().counters().lanes_lost, 0U);
}

// One end finds out; the other, which is spoken to on another lane then, does not have to.
TEST(End, a_lane_that_is_cut_is_not_answered_on) {
    World world(1, {});
    for (const auto& side : world.sides) side->begin(0);
    while (!world.sides[0]->finished() || !world.sides[1]->finished()) world.step();
    for (int lane = 0; lane < lanes - 1; ++lane) world.cut[lane] = true;
    clock_ns += 10'000 * us;
    world.sides[0]->begin(0);
    while (world.sides[1]->arrived < 2) world.step();
    const uint64_t begin = clock_ns;
    world.sides[1]->begin(0);
    while (world.sides[0]->arrived < 2) world.step();
    EXPECT_LT(clock_ns - begin, 1'000 * us);
    while (clock_ns - begin < 25'000 * us) world.step();
    EXPECT_EQ(world.sides[1]->end().counters().lanes_lost, 2U);
}

TEST(End, notices_do_not_hold_back_who_leaves) {
    World world(1, {});
    ASSERT_TRUE(world.leave());
    End& stays = world.sides[1]->end();
    const wire::Envelope notice{wire::Kind::give_back, 0, 0, 0, 0, 1, 0, 0};
    EXPECT_EQ(stays.send(stays.flow(0), notice, nullptr, {}), Posted::done);
    stays.leaving(false);
    EXPECT_FALSE(stays.idle());
    stays.leaving(true);
    EXPECT_TRUE(stays.idle());
}

TEST(End, bad_lanes) {
    const unsigned seed = seed_of_this_run();
    for (unsigned i = 0; i < 2; ++i) {
        World world(seed + i, {0.02, 0.05, 0.3, 0.01});
        EXPECT_TRUE(world.run(120)) << "seed " << seed + i;
        EXPECT_LE(world.most_retained, uint64_t{20} << 20);
    }
}

TEST(End, lanes_that_change_bytes) {
    const unsigned seed = seed_of_this_run();
    Flaws flaws{0.01, 0.02, 0.1, 0.01};
    flaws.sealed = true;
    flaws.changed = 0.02;
    World world(seed, flaws);
    EXPECT_TRUE(world.run(120)) << "seed " << seed;
    EXPECT_GT(world.sides[0]->end().counters().refused + world.sides[1]->end().counters().refused, 0U);
}

TEST(End, dying_lanes) {
    const unsigned seed = seed_of_this_run();
    for (unsigned i = 0; i < 2; ++i) {
        World world(seed + i, {0, 0, 0, 0.05});
        EXPECT_TRUE(world.run(120)) << "seed " << seed + i;
    }
}

} // namespace
} // namespace zipmpi::bridge
