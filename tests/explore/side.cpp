// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "exchange.hpp"

#include <cstring>

namespace zipmpi::bridge::explore {

Side::Side(Exchange& e, int i)
    : exchange(e)
    , id(i)
    , end({i, job, gateways}, *this, *this) {
    for (int g = 0; g < gateways; ++g) end.path_up(g);
}

void Side::add_send(uint64_t bytes) {
    Message& m = *sends_.emplace_back(std::make_unique<Message>());
    m.number = sends_.size() - 1;
    m.bytes.resize(bytes);
    for (uint64_t at = 0; at < bytes; ++at) m.bytes[at] = byte_of(m.number, at);
    waiting_.push_back(&m);
}

uint64_t Side::take_number(const transport::Arrival& a) {
    uint64_t n = 0;
    if (a.envelope.inline_bytes != sizeof n) exchange.fail("wrong payload length");
    std::memcpy(&n, a.payload, sizeof n);
    if (n != arrived)
        exchange.fail("message " + std::to_string(n) + " arrived instead of " + std::to_string(arrived));
    ++arrived;
    return n;
}

void Side::check_bytes(uint64_t number, std::span<const std::byte> bytes) {
    for (uint64_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] != byte_of(number, i))
            return exchange.fail("wrong byte " + std::to_string(i) + " of message " + std::to_string(number));
}

void Side::message_arrived(const transport::Arrival& a) {
    check_bytes(take_number(a), {a.bulk, a.bulk_bytes});
}

void Side::rts_arrived(const transport::Arrival& a, transport::IncomingBulk& bytes, uint64_t length) {
    auto made = std::make_unique<PendingReceive>();
    made->message = &bytes;
    made->due = clock_ns + 3 * ms;
    made->what.number = take_number(a);
    made->what.bytes.resize(length);
    announced.push_back(std::move(made));
    if (!exchange.scenario.receives_late) receive(announced.size() - 1);
}

void Side::send_finished(NetworkOperation* operation, OpStatus outcome) {
    Message& m = *static_cast<Message*>(operation);
    if (m.done) exchange.fail("a send completed twice");
    if (outcome != OpStatus::done && !exchange.peer_was_killed) exchange.fail("a send failed");
    m.done = true;
    if (outcome == OpStatus::done)
        std::ranges::fill(m.bytes, std::byte{0xee}); // the application reuses its buffer
}

void Side::fetch_finished(NetworkOperation* operation, OpStatus outcome) {
    const std::unique_ptr<PendingReceive> r(static_cast<PendingReceive*>(operation));
    if (outcome == OpStatus::done) check_bytes(r->what.number, r->what.bytes);
    if (outcome != OpStatus::done && !exchange.peer_was_killed) exchange.fail("a receive failed");
    --receiving;
}

void Side::peer_failed(Peer /*peer*/, const char* why) {
    if (!exchange.peer_was_killed) exchange.fail(std::string("lost: ") + why);
}

PostStatus Side::send(int gateway, std::span<const std::byte> head, std::span<const std::byte> data,
                      FrameTicket* ticket) {
    return exchange.post(id, gateway, head, data, ticket);
}

void Side::close_path(int gateway) { exchange.reconnect(id, gateway); }

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
    PendingReceive* const a = announced[index].release(); // fetch_finished() deletes it
    announced.erase(announced.begin() + static_cast<ptrdiff_t>(index));
    ++receiving;
    if (!end.fetch(*a->message, {a->what.bytes.data(), a->what.bytes.size(), a}))
        exchange.fail("a receive is not known");
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
