// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "exchange.hpp"

#include <cstring>

namespace zipmpi::bridge::explore {
namespace {

uint64_t next_expected_number(Side& s, const transport::Arrival& a) {
    uint64_t n = 0;
    if (a.envelope.inline_bytes != sizeof n) s.exchange.fail("wrong payload length");
    std::memcpy(&n, a.payload, sizeof n);
    if (n != s.arrived)
        s.exchange.fail("message " + std::to_string(n) + " arrived instead of " + std::to_string(s.arrived));
    ++s.arrived;
    return n;
}

void check_bytes(Side& s, uint64_t number, std::span<const std::byte> bytes) {
    for (uint64_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] != byte_of(number, i))
            return s.exchange.fail("wrong byte " + std::to_string(i) + " of message " +
                                   std::to_string(number));
}

transport::NetworkCallbacks sink_of(Side* side) {
    transport::NetworkCallbacks sink{};
    sink.subject = side;
    sink.arrived = [](void* self, const transport::Arrival& a) {
        auto& s = *static_cast<Side*>(self);
        check_bytes(s, next_expected_number(s, a), {a.bulk, a.bulk_bytes});
    };
    sink.rts_arrived = [](void* self, const transport::Arrival& a, transport::IncomingBulk& bytes,
                          uint64_t length) {
        auto& s = *static_cast<Side*>(self);
        auto made = std::make_unique<PendingReceive>(
            PendingReceive{reinterpret_cast<ChunkedReceive*>(&bytes), {}, clock_ns + 3 * ms});
        made->what.number = next_expected_number(s, a);
        made->what.bytes.resize(length);
        s.announced.push_back(std::move(made));
        if (!s.exchange.scenario.receives_late) s.receive(s.announced.size() - 1);
    };
    sink.sent = [](void* self, void* operation, OpStatus o) {
        auto& s = *static_cast<Side*>(self);
        auto& m = *static_cast<Message*>(operation);
        if (m.done) s.exchange.fail("a send completed twice");
        if (o != OpStatus::done && !s.exchange.peer_was_killed) s.exchange.fail("a send failed");
        m.done = true;
        if (o == OpStatus::done)
            std::ranges::fill(m.bytes, std::byte{0xee}); // the application reuses its buffer
    };
    sink.fetched = [](void* self, void* operation, OpStatus o) {
        auto& s = *static_cast<Side*>(self);
        const std::unique_ptr<PendingReceive> a(static_cast<PendingReceive*>(operation));
        if (o == OpStatus::done) check_bytes(s, a->what.number, a->what.bytes);
        if (o != OpStatus::done && !s.exchange.peer_was_killed) s.exchange.fail("a receive failed");
        --s.receiving;
    };
    sink.peer_failed = [](void* self, Peer, const char* why) {
        auto& exchange = static_cast<Side*>(self)->exchange;
        if (!exchange.peer_was_killed) exchange.fail(std::string("lost: ") + why);
    };
    return sink;
}

EndpointIo environment_of(Side* side) {
    EndpointIo world;
    world.subject = side;
    world.send = [](void* self, int gateway, std::span<const std::byte> head, std::span<const std::byte> data,
                    void* ticket) {
        auto& s = *static_cast<Side*>(self);
        return s.exchange.post(s.id, gateway, head, data, ticket);
    };
    world.paths_to = [](void*, int) { return std::vector<int>{0, 1}; };
    world.now_ns = [] { return clock_ns; };
    world.close_path = [](void* self, int gateway) {
        auto& s = *static_cast<Side*>(self);
        s.exchange.reconnect(s.id, gateway);
    };
    return world;
}

} // namespace

Side::Side(Exchange& e, int i)
    : exchange(e)
    , id(i)
    , end(i, job, gateways, EndpointLimits{}, sink_of(this), environment_of(this)) {
    for (int g = 0; g < gateways; ++g) end.path_up(g);
}

void Side::add_send(uint64_t bytes) {
    Message& m = *sends_.emplace_back(std::make_unique<Message>());
    m.number = sends_.size() - 1;
    m.bytes.resize(bytes);
    for (uint64_t at = 0; at < bytes; ++at) m.bytes[at] = byte_of(m.number, at);
    waiting_.push_back(&m);
}

bool Side::post(Message& m) {
    const Peer to = end.flow(1 - id);
    wire::Envelope envelope{wire::MessageKind::eager, 0, 8, 0, 3, id, static_cast<int>(m.number), 0};
    const BufferRef data{m.bytes.data(), m.bytes.size(), &m};
    const auto* payload = reinterpret_cast<const std::byte*>(&m.number);
    if (m.bytes.size() <= wire::frame_chunk) {
        const PostStatus p = end.send(to, envelope, payload, data);
        if (p == PostStatus::would_block) return false;
        if (p != PostStatus::done && !exchange.peer_was_killed) exchange.fail("send failed");
        m.done = true;
        std::ranges::fill(m.bytes, std::byte{0xee});
        return true;
    }
    envelope.kind = wire::MessageKind::rts;
    const PostStatus p = end.send_chunked(to, envelope, payload, data);
    if (p == PostStatus::failed && exchange.peer_was_killed) return m.done = true;
    return p == PostStatus::in_flight;
}

void Side::receive(size_t index) {
    PendingReceive* const a = announced[index].release(); // received() deletes it
    announced.erase(announced.begin() + static_cast<ptrdiff_t>(index));
    ++receiving;
    end.fetch(*a->message, {a->what.bytes.data(), a->what.bytes.size(), a});
}

void Side::work() {
    while (!waiting_.empty() && post(*waiting_.front())) waiting_.pop_front();
    for (size_t i = 0; i < announced.size();)
        if (announced[i]->due <= clock_ns)
            receive(i);
        else
            ++i;
    end.advance();
}

std::string Side::state() const {
    return "side " + std::to_string(id) + ": arrived " + std::to_string(arrived) + ", idle " +
           std::to_string(end.idle()) + ", waiting " + std::to_string(waiting_.size()) + ", announced " +
           std::to_string(announced.size()) + ", receiving " + std::to_string(receiving) + "; ";
}

} // namespace zipmpi::bridge::explore
