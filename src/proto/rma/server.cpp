// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/server.hpp"

#include "proto/rma/pieces.hpp"

namespace zipmpi::proto::rma {
namespace {

constexpr int request_tag = 0;
constexpr int reply_tag = 1;
constexpr uint64_t most_data =
    wire::rma_message_bytes - sizeof(wire::RmaRequest) - wire::rma_request_pieces * sizeof(wire::RmaPiece);

// A message on its way; it ends itself.
struct Outgoing : Operation {
    std::vector<std::byte> data;
};

void append(std::vector<std::byte>& message, const void* data, size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(data);
    message.insert(message.end(), first, first + bytes);
}

Err no_memory_for_requests() {
    return fail(Err::no_mem, "complete operations before starting more",
                "no memory for another one-sided operation");
}

Err not_in_window(int rank) {
    return fail(Err::rma_range, "access only memory that the target has in the window or has attached to it",
                "rank %d has refused an access outside its window", rank);
}

} // namespace

void Window::Server::Receiver::start(Server& s, int tag) {
    server = &s;
    buffer.resize(wire::rma_message_bytes);
    set_recv(operation, s.window_.team(), buffer.data(), buffer.size(), any_source, tag);
    operation.owner = this;
    // Inside the completion of an operation no other can be started on its context.
    operation.on_done = [](Operation& op) {
        Receiver& r = *static_cast<Receive&>(op).owner;
        r.server->window_.team().lane->defer(r);
    };
    run = [](Deferred& d) {
        auto& r = static_cast<Receiver&>(d);
        if (r.operation.error == Err::success)
            (r.server->*r.take)(r.operation.matched_source, r.buffer.data(), r.operation.received);
        r.post();
    };
    post();
}

void Window::Server::Receiver::post() {
    operation.reset();
    server->window_.team().lane->start_recv(operation);
}

Window::Server::Server(Window& window)
    : window_(window) {
    requests_.take = &Server::take_request;
    replies_.take = &Server::take_reply;
    requests_.start(*this, request_tag);
    replies_.start(*this, reply_tag);
}

Window::Server::~Server() {
    Lane& lane = *window_.team().lane;
    for (Receiver* const r : {&requests_, &replies_}) {
        lane.forget(*r);
        if (!r->operation.done()) lane.give_up_recv(r->operation);
    }
}

void Window::Server::send(int to, int tag, std::vector<std::byte> message) {
    auto* const out = new Outgoing;
    out->data = std::move(message);
    set_send(*out, window_.team(), out->data.data(), out->data.size(), to, tag);
    out->on_done = [](Operation& op) { delete static_cast<Outgoing*>(&op); };
    window_.team().lane->start_send(*out);
}

uint32_t Window::Server::add(const Waiting& w) {
    if (free_.empty()) {
        free_.push_back(static_cast<uint32_t>(waiting_.size()));
        waiting_.emplace_back();
    }
    const uint32_t id = free_.back();
    free_.pop_back();
    waiting_[id] = w;
    ++w.exchange->waiting;
    ++window_.targets_[static_cast<size_t>(w.rank)].under_way;
    ++window_.under_way_;
    return id;
}

void Window::Server::request(int rank, const wire::RmaRequest& head, const iovec* pieces, const Data& data,
                             uint64_t data_from, Exchange& exchange, uint64_t from, uint64_t reply_bytes) {
    std::vector<std::byte> message;
    message.reserve(sizeof head + head.pieces * sizeof(wire::RmaPiece) + head.data_bytes);
    wire::RmaRequest numbered = head;
    numbered.id = add({&exchange, rank, from, reply_bytes});
    append(message, &numbered, sizeof numbered);
    for (uint32_t i = 0; i < head.pieces; ++i) {
        const wire::RmaPiece p{reinterpret_cast<uint64_t>(pieces[i].iov_base), pieces[i].iov_len};
        append(message, &p, sizeof p);
    }
    const size_t at = message.size();
    message.resize(at + head.data_bytes);
    load(data, data_from, message.data() + at, head.data_bytes);
    send(rank, request_tag, std::move(message));
}

void Window::Server::made(Exchange& exchange) {
    if (--exchange.waiting == 0) exchange.done(exchange);
}

void Window::Server::take_reply(int from, const std::byte* message, size_t bytes) {
    wire::RmaReply head{};
    if (bytes < sizeof head) return;
    std::memcpy(&head, message, sizeof head);
    if (head.id >= waiting_.size()) return;
    Waiting& w = waiting_[head.id];
    if (w.exchange == nullptr || w.rank != from) return;
    Exchange& exchange = *w.exchange;
    if (head.refused != 0)
        exchange.error = not_in_window(from);
    else if (bytes - sizeof head == w.bytes && w.bytes != 0)
        store(exchange.result, w.from, message + sizeof head, w.bytes);
    w.exchange = nullptr;
    free_.push_back(head.id);
    --window_.targets_[static_cast<size_t>(from)].under_way;
    --window_.under_way_;
    made(exchange);
    window_.team().lane->wake_threads();
}

// Pieces of the own region, checked.
bool Window::Server::place_pieces(const std::byte* from, uint32_t count, std::vector<iovec>& pieces,
                                  uint64_t& bytes) const {
    const Region& own = window_.regions_[static_cast<size_t>(window_.team_.rank)];
    bytes = 0;
    for (uint32_t i = 0; i < count; ++i) {
        wire::RmaPiece p{};
        std::memcpy(&p, from + i * sizeof p, sizeof p);
        const bool inside = own.size == everywhere ? window_.is_attached(p.offset, p.bytes)
                                                   : p.offset <= own.size && p.bytes <= own.size - p.offset;
        if (!inside || p.bytes > wire::rma_message_bytes) return false;
        // NOLINTNEXTLINE(performance-no-int-to-ptr): checked
        pieces.push_back({reinterpret_cast<void*>(own.base + p.offset), p.bytes});
        bytes += p.bytes;
    }
    return bytes <= wire::rma_message_bytes - sizeof(wire::RmaReply);
}

bool Window::Server::serve_swap(const wire::RmaRequest& head, const iovec& piece, const std::byte* data,
                                std::vector<std::byte>& reply) {
    Swap swap;
    if (!window_.codes_.swap(head.combine, swap) || piece.iov_len != swap.bytes ||
        head.data_bytes != 2 * uint64_t{swap.bytes})
        return false;
    const int own = window_.team_.rank;
    const size_t at = reply.size();
    reply.resize(at + swap.bytes);
    Guard guard = window_.guard_of(own, window_.target(own));
    guard.word = &window_.members_[own].combining; // done for another rank
    swap_element(swap, static_cast<std::byte*>(piece.iov_base), data, data + swap.bytes, reply.data() + at,
                 guard);
    return true;
}

bool Window::Server::serve(const wire::RmaRequest& head, const iovec* pieces, const std::byte* data,
                           std::vector<std::byte>& reply) {
    if (head.kind == wire::RmaKind::compare_and_swap)
        return head.pieces == 1 && serve_swap(head, pieces[0], data, reply);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < head.pieces; ++i) bytes += pieces[i].iov_len;
    const size_t at = reply.size();
    if (head.kind == wire::RmaKind::get || head.kind == wire::RmaKind::get_accumulate)
        reply.resize(at + bytes);
    if (head.kind == wire::RmaKind::get) {
        gather(pieces, head.pieces, reply.data() + at);
        return true;
    }
    if (head.kind == wire::RmaKind::put) {
        if (head.data_bytes != bytes) return false;
        scatter(pieces, head.pieces, data);
        return true;
    }
    Combine c;
    if (!window_.codes_.combine(head.combine, c) || (c.writes() && head.data_bytes != bytes)) return false;
    for (uint32_t i = 0; i < head.pieces && c.gaps == nullptr; ++i)
        if (pieces[i].iov_len % c.element_bytes != 0) return false;
    const int own = window_.team_.rank;
    Guard guard = window_.guard_of(own, window_.target(own));
    guard.word = &window_.members_[own].combining;
    combine_pieces(c, pieces, head.pieces, c.writes() ? data : nullptr,
                   reply.size() > at ? reply.data() + at : nullptr, guard, scratch_);
    return true;
}

void Window::Server::take_request(int from, const std::byte* message, size_t bytes) {
    wire::RmaRequest head{};
    if (bytes < sizeof head) return;
    std::memcpy(&head, message, sizeof head);
    const uint64_t listed = uint64_t{head.pieces} * sizeof(wire::RmaPiece);
    if (head.data_bytes > bytes || listed + head.data_bytes != bytes - sizeof head) return;
    wire::RmaReply answer{head.id, 0};
    std::vector<std::byte> reply;
    append(reply, &answer, sizeof answer);
    std::vector<iovec> pieces;
    uint64_t covered = 0;
    const bool good = place_pieces(message + sizeof head, head.pieces, pieces, covered) &&
                      serve(head, pieces.data(), message + sizeof head + listed, reply);
    if (!good) {
        answer.refused = 1;
        reply.clear();
        append(reply, &answer, sizeof answer);
    }
    send(from, reply_tag, std::move(reply));
}

Err Window::send_requests(int rank, wire::RmaKind kind, const Combine* c, const Data& here, const Data& there,
                          const Data& result, const Maker& maker) {
    Exchange* const exchange = maker.make(maker.maker);
    if (exchange == nullptr) return no_memory_for_requests();
    exchange->result = result;
    const bool sends = kind != wire::RmaKind::get && (c == nullptr || c->writes());
    const bool fetches = kind == wire::RmaKind::get || kind == wire::RmaKind::get_accumulate;
    const Cut cut{most_data, c != nullptr ? c->element_bytes : 1, wire::rma_request_pieces};
    Chunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, cut);
        const wire::RmaRequest head{kind,
                                    {},
                                    c != nullptr ? c->code : 0,
                                    0,
                                    static_cast<uint32_t>(chunk.count),
                                    sends ? chunk.bytes : 0};
        server_->request(rank, head, chunk.pieces, here, chunk.from, *exchange, chunk.from,
                         fetches ? chunk.bytes : 0);
    }
    Server::made(*exchange);
    return Err::success;
}

Err Window::send_swap(int rank, const Swap& s, const void* compare, const void* value, void* fetched,
                      std::byte* there, const Maker& maker) {
    Exchange* const exchange = maker.make(maker.maker);
    if (exchange == nullptr) return no_memory_for_requests();
    exchange->result = {static_cast<std::byte*>(fetched), nullptr, 0, s.bytes};
    std::byte both[32];
    std::memcpy(both, compare, s.bytes);
    std::memcpy(both + s.bytes, value, s.bytes);
    const iovec piece{there, s.bytes};
    const wire::RmaRequest head{wire::RmaKind::compare_and_swap, {}, s.code, 0, 1, 2 * uint64_t{s.bytes}};
    server_->request(rank, head, &piece, Data{both, nullptr, 0, 2 * uint64_t{s.bytes}}, 0, *exchange, 0,
                     s.bytes);
    Server::made(*exchange);
    return Err::success;
}

} // namespace zipmpi::proto::rma
