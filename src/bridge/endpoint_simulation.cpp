// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/endpoint_simulation.hpp"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <utility>

namespace zipmpi::bridge::simulation {
namespace {

void add(uint64_t& sum, std::byte b) { sum = (sum ^ static_cast<uint8_t>(b)) * 0x100000001b3; }

uint64_t initial_sum(const ToyAead::AeadContext& about) {
    uint64_t sum = about.sequence * 1000003 + static_cast<uint64_t>(about.from) * 31 +
                   static_cast<uint64_t>(about.to) + about.salt * 7;
    for (const std::byte b : about.aad) add(sum, b);
    return sum;
}

void obscure(const ToyAead::AeadContext& about, std::span<std::byte> text) {
    for (size_t i = 0; i < text.size(); ++i) text[i] ^= static_cast<std::byte>(about.sequence * 13 + i);
}

std::byte byte_of(uint64_t message, uint64_t at) {
    return static_cast<std::byte>(message * 31 + at * 7 + at / 255);
}

void check(uint64_t number, std::span<const std::byte> bytes) {
    for (uint64_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] != byte_of(number, i)) {
            ADD_FAILURE() << "message " << number << " differs at byte " << i << " of " << bytes.size();
            std::abort();
        }
}

} // namespace

uint64_t clock_ns = 1;

bool ToyAead::seal(const AeadContext& about, std::span<std::byte> head, std::span<const std::byte> data,
                   std::byte* out, uint8_t (&tag)[wire::aead_tag_bytes]) {
    uint64_t sum = initial_sum(about);
    std::vector<std::byte> text(head.begin(), head.end());
    text.insert(text.end(), data.begin(), data.end());
    for (const std::byte b : text) add(sum, b);
    obscure(about, text);
    std::copy_n(text.begin(), head.size(), head.begin());
    std::copy(text.begin() + static_cast<ptrdiff_t>(head.size()), text.end(), out);
    std::memcpy(tag, &sum, sizeof sum);
    return true;
}

bool ToyAead::open(const AeadContext& about, AeadSegment first, AeadSegment second,
                   const uint8_t (&tag)[wire::aead_tag_bytes]) {
    uint64_t sum = initial_sum(about);
    std::vector<std::byte> text(first.from.begin(), first.from.end());
    text.insert(text.end(), second.from.begin(), second.from.end());
    obscure(about, text);
    for (const std::byte b : text) add(sum, b);
    std::copy_n(text.begin(), first.from.size(), first.to);
    std::copy(text.begin() + static_cast<ptrdiff_t>(first.from.size()), text.end(), second.to);
    return std::memcmp(tag, &sum, sizeof sum) == 0;
}

Side::Side(Simulation& world, int id)
    : simulation_(world)
    , id_(id)
    , endpoint_({id, job, paths, limits()}, *this, *this) {
    if (simulation_.faults.sealed) endpoint_.set_aead(aead_);
    for (int l = 0; l < paths; ++l) endpoint_.path_up(l);
}

EndpointLimits Side::limits() {
    EndpointLimits l;
    l.retransmit_ns = 50'000 * us;
    l.heartbeat_ns = 5'000 * us;
    l.heartbeat_timeout_ns = 20'000 * us;
    return l;
}

void Side::begin(uint64_t bytes) {
    UserMessage& m = *sends_.emplace_back(std::make_unique<UserMessage>());
    m.number = sends_.size() - 1;
    m.bytes.resize(bytes);
    for (uint64_t i = 0; i < bytes; ++i) m.bytes[i] = byte_of(m.number, i);
    waiting_.push_back(&m);
}

void Side::work() {
    while (!waiting_.empty() && post(*waiting_.front())) waiting_.pop_front();
    // A long message is received some time after its RTS, or immediately.
    while (!pending_receives_.empty() && simulation_.chance(0.1)) receive_one();
    endpoint_.advance();
}

bool Side::post(UserMessage& m) {
    const Peer to = endpoint_.flow(1 - id_);
    wire::Envelope e{wire::MessageKind::eager, 0, 8, 0, 3, id_, static_cast<int>(m.number % 1000), 0};
    const BufferRef data{m.bytes.data(), m.bytes.size(), &m};
    const auto* payload = reinterpret_cast<const std::byte*>(&m.number);
    if (m.bytes.size() <= wire::frame_chunk) {
        const PostStatus p = endpoint_.send(to, e, payload, data);
        if (p == PostStatus::would_block) return false;
        m.done = p == PostStatus::done;
        if (m.done) std::ranges::fill(m.bytes, std::byte{0xee}); // the memory belongs to the user again
        return true;
    }
    e.kind = wire::MessageKind::rts;
    return endpoint_.send_chunked(to, e, payload, data) == PostStatus::in_flight;
}

uint64_t Side::take_number(const transport::Arrival& a) {
    uint64_t number = 0;
    EXPECT_EQ(a.envelope.inline_bytes, sizeof number);
    std::memcpy(&number, a.payload, sizeof number);
    EXPECT_EQ(number, arrived);
    EXPECT_EQ(a.envelope.tag, static_cast<int>(number % 1000));
    ++arrived;
    return number;
}

void Side::receive_one() {
    PendingReceive* const r = pending_receives_.back();
    pending_receives_.pop_back();
    ++receiving_;
    EXPECT_TRUE(endpoint_.fetch(*r->message, {r->bytes.data(), r->bytes.size(), r}));
}

void Side::message_arrived(const transport::Arrival& a) { check(take_number(a), {a.bulk, a.bulk_bytes}); }

void Side::rts_arrived(const transport::Arrival& a, transport::IncomingBulk& bytes, uint64_t length) {
    auto* const made = new PendingReceive;
    made->message = &bytes;
    made->number = take_number(a);
    made->bytes.resize(length);
    pending_receives_.push_back(made);
    if (simulation_.chance(0.5)) receive_one();
}

void Side::send_finished(NetworkOperation* operation, OpStatus outcome) {
    UserMessage& m = *static_cast<UserMessage*>(operation);
    EXPECT_EQ(outcome, OpStatus::done);
    EXPECT_FALSE(m.done);
    m.done = true;
    std::ranges::fill(m.bytes, std::byte{0xee});
}

void Side::fetch_finished(NetworkOperation* operation, OpStatus outcome) {
    EXPECT_EQ(outcome, OpStatus::done);
    const std::unique_ptr<PendingReceive> r(static_cast<PendingReceive*>(operation));
    check(r->number, r->bytes);
    --receiving_;
}

void Side::peer_failed(Peer /*peer*/, const char* why) { ADD_FAILURE() << why; }

PostStatus Side::send(int path, std::span<const std::byte> head, std::span<const std::byte> data,
                      FrameTicket* ticket) {
    return simulation_.post(id_, path, head, data, ticket);
}

Simulation::Simulation(unsigned seed, const FaultRates& f)
    : random(seed)
    , faults(f) {
    sides[0] = std::make_unique<Side>(*this, 0);
    sides[1] = std::make_unique<Side>(*this, 1);
}

PostStatus Simulation::post(int from, int path, std::span<const std::byte> head,
                            std::span<const std::byte> data, FrameTicket* ticket) {
    if (!alive[path]) return PostStatus::failed;
    if (partitioned[path] || (stopped[from][path] && ticket == nullptr)) return PostStatus::done;
    const bool referenced = ticket != nullptr && !data.empty();
    const auto add = [&](FrameTicket* t) {
        const uint64_t jitter = chance(faults.reordered) ? random() % (3000 * us) : 0;
        wires[from][path].frames.push_back(
            {clock_ns + 50 * us + jitter, {head.begin(), head.end()}, {data.begin(), data.end()}, t});
    };
    add(referenced ? ticket : nullptr);
    if (chance(faults.duplicated)) add(nullptr);
    return referenced ? PostStatus::in_flight : PostStatus::done;
}

void Simulation::corrupt_byte(InFlight& f) {
    const size_t behind = f.head.size() - sizeof(wire::Frame);
    const size_t at = random() % std::max<size_t>(behind + f.data.size(), 1);
    if (at < behind)
        f.head[sizeof(wire::Frame) + at] ^= std::byte{4};
    else if (at - behind < f.data.size())
        f.data[at - behind] ^= std::byte{4};
}

void Simulation::reply_as_gateway(int side, int path, const wire::Frame& frame, uint64_t bytes) {
    wire::Frame reply{};
    reply.type =
        frame.type == wire::FrameType::heartbeat ? wire::FrameType::heartbeat : wire::FrameType::credit;
    reply.flags = wire::frame_reply;
    reply.job = job;
    reply.to = side;
    reply.length = bytes;
    reply.sequence = frame.sequence;
    finalize(reply);
    sides[side]->endpoint().on_frame(path, std::as_bytes(std::span(&reply, 1)), {});
}

void Simulation::deliver(int side, int path) {
    auto& frames = wires[side][path].frames;
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
        if (f.ticket != nullptr) sides[side]->endpoint().on_frame_sent(f.ticket);
        if (frame.type < wire::FrameType::credit && chance(faults.changed)) corrupt_byte(f);
        reply_as_gateway(side, path, frame, bytes);
        if (frame.type == wire::FrameType::heartbeat || finished[1 - side] || chance(faults.lost)) continue;
        sides[1 - side]->endpoint().on_frame(path, f.head, f.data);
    }
}

void Simulation::tamper() {
    if (!chance(faults.dies)) return;
    const int path = static_cast<int>(random() % paths);
    if (alive[path]) {
        alive[path] = false;
        for (int side = 0; side < 2; ++side) {
            auto lost = std::move(wires[side][path].frames);
            wires[side][path].frames.clear();
            for (const InFlight& f : lost)
                if (f.ticket != nullptr) sides[side]->endpoint().on_frame_sent(f.ticket);
            sides[side]->endpoint().path_down(path);
        }
    } else {
        alive[path] = true;
        for (auto& side : sides) side->endpoint().path_up(path);
    }
}

void Simulation::step() {
    clock_ns += 20 * us;
    tamper();
    for (int side = 0; side < 2; ++side) {
        for (int path = 0; path < paths; ++path) deliver(side, path);
        if (!finished[side]) sides[side]->work();
        max_retained = std::max(max_retained, sides[side]->endpoint().retained_bytes());
    }
}

// One side exits as soon as it may, and with it all frames that no gateway has read; the other side must not
// need them.
bool Simulation::shut_down() {
    const auto wait = [&](int side) {
        sides[side]->endpoint().begin_shutdown();
        for (int rounds = 0; rounds < 100'000 && !sides[side]->finished(); ++rounds) step();
        return sides[side]->finished();
    };
    if (!wait(0)) return false;
    finished[0] = true;
    for (Wire& wire : wires[0]) wire.frames.clear();
    return wait(1);
}

bool Simulation::run(int messages) {
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

} // namespace zipmpi::bridge::simulation
