// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages out and in. UCX may deliver over several lanes: messages carry numbers, and one that comes early
// waits for those before it.
#include "transport/ucx/engine.hpp"
#include "transport/ucx/header.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

constexpr size_t most_pieces = 256;
constexpr uint64_t index_mask = (uint64_t{1} << pass_index_bits) - 1;

} // namespace

ucp_request_param_t Engine::asking_for(Sending& s, uint32_t flags) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    param.cb.send = on_sent;
    param.user_data = &s;
    return param;
}

Engine* Engine::with_data(void* self, const ucp_am_recv_param_t* param) {
    auto* const engine = static_cast<Engine*>(self);
    ++engine->happened_;
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) return engine;
    ++engine->strangers_;
    return nullptr;
}

Engine::Sending& Engine::take_sending() {
    if (free_ == nullptr) {
        Sending& s = sendings_.emplace_back();
        s.engine = this;
        s.next_free = nullptr;
        free_ = &s;
    }
    Sending& s = *free_;
    free_ = s.next_free;
    s.ticket = nullptr;
    touched_ = true;
    ++under_way_;
    return s;
}

void Engine::give_back(Sending& s) {
    s.greeting.clear();
    if (std::exchange(s.used, 0) != 0) --batches_;
    give_back_room(std::move(s.gaps.packed));
    s.data = {};
    s.next_free = free_;
    free_ = &s;
    --under_way_;
}

bool Engine::list_pieces(const Memory& memory, Gaps& gaps) const {
    iovec list[most_pieces];
    const size_t n = sink_.pieces(memory.operation, list, most_pieces);
    gaps.pieces.clear();
    for (size_t i = 0; i < n; ++i) gaps.pieces.push_back({list[i].iov_base, list[i].iov_len});
    return n != 0;
}

std::vector<std::byte> Engine::take_room(uint64_t bytes) {
    std::vector<std::byte> room;
    if (!rooms_.empty()) {
        room = std::move(rooms_.back());
        rooms_.pop_back();
    }
    if (room.size() < bytes) room.resize(bytes);
    return room;
}

void Engine::give_back_room(std::vector<std::byte>&& room) {
    constexpr size_t most_rooms = 64;
    constexpr size_t largest_kept = 4U << 20;
    if (!room.empty() && room.size() <= largest_kept && rooms_.size() < most_rooms)
        rooms_.push_back(std::move(room));
    room.clear();
}

// Memory with gaps: by pieces where devices gather, else packed. Over TCP UCX handles a list of pieces, or a
// datatype of its caller's, at a third of the bandwidth.
std::pair<void*, size_t> Engine::describe(const Memory& m, Gaps& gaps, bool by_pieces,
                                          ucp_request_param_t& param) {
    if (m.at != nullptr || m.bytes == 0) return {m.at, m.bytes};
    if (by_pieces && list_pieces(m, gaps)) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        param.datatype = UCP_DATATYPE_IOV;
        return {gaps.pieces.data(), gaps.pieces.size()};
    }
    gaps.packed = take_room(m.bytes);
    return {gaps.packed.data(), m.bytes};
}

Posted Engine::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload, const Memory& data) {
    return post(peer, wire::net_message, envelope, payload, data, UCP_AM_SEND_FLAG_EAGER);
}

Posted Engine::send_long(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                         const Memory& data) {
    return post(peer, wire::net_long, envelope, payload, data, UCP_AM_SEND_FLAG_RNDV);
}

Posted Engine::post(Peer peer, unsigned kind, const wire::Envelope& envelope, const std::byte* payload,
                    const Memory& data, uint32_t flags) {
    Known& to = peers_[peer];
    if (to.lost) return Posted::failed;
    if (to.pass == 0) return Posted::would_block;
    if (to.batch != nullptr) send_batch(to); // what came first goes first
    Sending& s = take_sending();
    const wire::NetHeader h{to.pass, ++to.sent, envelope};
    std::memcpy(s.header, &h, sizeof h);
    if (envelope.inline_bytes != 0) std::memcpy(s.header + sizeof h, payload, envelope.inline_bytes);
    s.data = data;
    ucp_request_param_t param = asking_for(s, flags);
    const size_t header_bytes = sizeof h + envelope.inline_bytes;
    void* request = nullptr;
    if (data.bytes == 0 && kind == wire::net_message) { // UCX is quicker with data than with a header
        request = ucp_am_send_nbx(to.endpoint, wire::net_line, nullptr, 0, s.header, header_bytes, &param);
    } else {
        const auto [memory, count] = describe(s.data, s.gaps, to.way.reads_memory, param);
        if (!s.gaps.packed.empty()) sink_.load(data.operation, 0, s.gaps.packed.data(), data.bytes);
        request = ucp_am_send_nbx(to.endpoint, kind, s.header, header_bytes, memory, count, &param);
    }
    if (UCS_PTR_IS_PTR(request)) return Posted::under_way;
    give_back(s);
    if (request == nullptr) return Posted::done;
    lose(to, ucs_status_string(UCS_PTR_STATUS(request)));
    return Posted::failed;
}

void Engine::on_sent(void* request, ucs_status_t status, void* user_data) {
    auto& s = *static_cast<Sending*>(user_data);
    Engine& engine = *s.engine;
    void* const operation = s.data.operation;
    void* const ticket = s.ticket;
    ++engine.happened_;
    ucp_request_free(request);
    engine.give_back(s);
    if (ticket != nullptr) engine.sink_.frame_left(engine.sink_.subject, ticket);
    if (operation != nullptr)
        engine.sink_.sent(engine.sink_.subject, operation,
                          status == UCS_OK ? Outcome::done : Outcome::failed);
}

ucs_status_t Engine::on_message(void* self, const void* header, size_t header_length, void* data,
                                size_t length, const ucp_am_recv_param_t* param) {
    auto& engine = *static_cast<Engine*>(self);
    ++engine.happened_;
    const std::span head(static_cast<const std::byte*>(header), header_length);
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0)
        return engine.take(head, {static_cast<const std::byte*>(data), length}, nullptr);
    return engine.take(head, {}, new Arriving{data, length, false});
}

ucs_status_t Engine::on_line(void* self, const void*, size_t, void* data, size_t length,
                             const ucp_am_recv_param_t* param) {
    Engine* const engine = with_data(self, param);
    if (engine == nullptr) return UCS_OK;
    return engine->take({static_cast<const std::byte*>(data), length}, {}, nullptr);
}

ucs_status_t Engine::take(std::span<const std::byte> header, std::span<const std::byte> data,
                          Arriving* bytes) {
    wire::NetHeader h{};
    std::span<const std::byte> payload;
    const bool whole = read_header(header, h, payload);
    const auto from = static_cast<Peer>(h.pass & index_mask);
    if (!whole || from >= peers_.size() || peers_[from].given_pass != h.pass) {
        ++strangers_;
        delete bytes;
        return UCS_OK; // UCX tells the sender of a long one that it was not wanted
    }
    Known& peer = peers_[from];
    if (h.number == peer.taken + 1) [[likely]] {
        hand_up(from, header, data, bytes);
        if (!peer.early.empty()) hand_up_early(from);
    } else {
        const auto text = [](std::span<const std::byte> s) {
            return std::string(reinterpret_cast<const char*>(s.data()), s.size());
        };
        constexpr size_t most_early = 65536; // far more than lanes can differ by
        if (h.number - peer.taken > most_early) {
            delete bytes;
            return UCS_OK;
        }
        peer.early.push_back({h.number, text(header), text(data), bytes});
    }
    return bytes != nullptr ? UCS_INPROGRESS : UCS_OK;
}

void Engine::hand_up(Peer from, std::span<const std::byte> header, std::span<const std::byte> data,
                     Arriving* bytes) {
    wire::NetHeader h{};
    std::span<const std::byte> payload;
    if (!read_header(header, h, payload)) return; // checked before
    peers_[from].taken = h.number;
    if (bytes != nullptr) bytes->scatters = peers_[from].way.reads_memory;
    const Arrival arrival{from, h.envelope, payload.data(), data.empty() ? nullptr : data.data(),
                          data.size()};
    if (bytes == nullptr)
        sink_.arrived(sink_.subject, arrival);
    else
        sink_.announced(sink_.subject, arrival, *bytes, bytes->bytes);
}

void Engine::hand_up_early(Peer from) {
    Known& peer = peers_[from];
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < peer.early.size() && !found; ++i) {
            if (peer.early[i].number != peer.taken + 1) continue;
            const Early next = std::move(peer.early[i]);
            peer.early.erase(peer.early.begin() + static_cast<ptrdiff_t>(i));
            hand_up(from, std::as_bytes(std::span(next.header)), std::as_bytes(std::span(next.data)),
                    next.bytes);
            found = true;
        }
    }
}

void Engine::receive(Arriving& bytes, const Memory& to) {
    auto* r = new Receiving{this, to, {}, &bytes};
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.recv_am = on_received;
    param.user_data = r;
    const auto [memory, count] = describe(r->to, r->gaps, bytes.scatters, param);
    void* request = ucp_am_recv_data_nbx(worker_, bytes.descriptor, memory, count, &param);
    if (!UCS_PTR_IS_PTR(request)) finish_receiving(*r, UCS_PTR_STATUS(request));
}

void Engine::on_received(void* request, ucs_status_t status, size_t, void* user_data) {
    ucp_request_free(request);
    auto& r = *static_cast<Receiving*>(user_data);
    r.engine->finish_receiving(r, status);
}

void Engine::finish_receiving(Receiving& r, ucs_status_t status) {
    void* const operation = r.to.operation;
    ++happened_;
    if (!r.gaps.packed.empty() && status == UCS_OK)
        sink_.store(operation, 0, r.gaps.packed.data(), r.to.bytes);
    give_back_room(std::move(r.gaps.packed));
    delete r.bytes;
    delete &r;
    sink_.received(sink_.subject, operation, status == UCS_OK ? Outcome::done : Outcome::failed);
}

void Engine::drop(Arriving& bytes) {
    ucp_am_data_release(worker_, bytes.descriptor);
    delete &bytes;
}

} // namespace zipmpi::transport::ucx
