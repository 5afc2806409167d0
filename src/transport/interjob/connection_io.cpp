// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads and writes frames.
#include "transport/interjob/interjob_network.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>

namespace zipmpi::interjob {

using transport::OpStatus;

namespace {

constexpr uint64_t max_eager_message = uint64_t{1} << 31; // bytes of a message that was not pulled
constexpr int max_reads = 8;
using Kind = FrameHeader::Kind;

} // namespace

// Writes as much as the socket accepts. Returns a negative value and sets errno on error.
ssize_t InterJobNetwork::write_some(Connection& c, Connection::QueuedFrame& out) {
    iovec parts[2];
    size_t n = 0;
    if (out.written < out.head.size()) {
        parts[n++] = {out.head.data() + out.written, out.head.size() - out.written};
    }
    const uint64_t at = out.written > out.head.size() ? out.written - out.head.size() : 0;
    const uint64_t left = out.data.bytes - at;
    if (left > 0 && out.data.at != nullptr) {
        parts[n++] = {out.data.at + at, left};
    } else if (left > 0) {
        const size_t some = std::min<uint64_t>(left, pack_buffer_.size());
        callbacks_.pack(out.data.operation, at, pack_buffer_.data(), some);
        parts[n++] = {pack_buffer_.data(), some};
    }
    msghdr m{};
    m.msg_iov = parts;
    m.msg_iovlen = n;
    return sendmsg(c.fd.get(), &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void InterJobNetwork::write_out(Connection& c) {
    while (!c.out.empty() && !c.broken) {
        Connection::QueuedFrame& out = c.out.front();
        const ssize_t n = write_some(c, out);
        if (n < 0) {
            if (errno == EINTR) continue;
            if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS) c.broken = to_sweep_ = true;
            break;
        }
        out.written += static_cast<uint64_t>(n);
        if (out.written < out.head.size() + out.data.bytes) continue;
        const bool notify = out.notify;
        void* const operation = out.data.operation;
        c.out.pop_front();
        if (notify) {
            ++events_;
            callbacks_.sent(callbacks_.subject, operation, OpStatus::done);
        }
    }
    if (c.out.empty() && c.bye_sent && c.bye_received) to_sweep_ = true;
    if (c.fd && c.watches_writable != !c.out.empty()) static_cast<void>(watch(c));
}

// Reads the data of a rendezvous message directly to its destination.
bool InterJobNetwork::read_in_place(Connection& c, bool& over) {
    if (!c.in_data || c.head.kind != Kind::bulk) return false;
    const auto to = fetching_.find({c.external, c.head.number});
    if (to == fetching_.end() || to->second.at == nullptr) return false;
    const ssize_t n = recv(c.fd.get(), to->second.at + c.received, c.head.bytes - c.received, MSG_DONTWAIT);
    over = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (n <= 0) return true;
    c.received += static_cast<uint64_t>(n);
    ++events_;
    if (c.received == c.head.bytes) end_frame(c);
    return true;
}

void InterJobNetwork::read_in(Connection& c) {
    for (int i = 0; i < max_reads && !c.broken; ++i) {
        bool over = false;
        if (read_in_place(c, over)) {
            if (over) return on_closed(c);
            continue;
        }
        const ssize_t n = recv(c.fd.get(), read_buffer_.data(), read_buffer_.size(), MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return on_closed(c);
        std::span<const std::byte> bytes(read_buffer_.data(), static_cast<size_t>(n));
        while (!bytes.empty() && !c.broken) bytes = bytes.subspan(feed(c, bytes));
    }
}

// Consumes bytes and returns how many.
size_t InterJobNetwork::feed(Connection& c, std::span<const std::byte> bytes) {
    if (c.in_data) return consume_data(c, bytes);
    size_t wanted = 0;
    switch (c.state) {
    case Connection::State::hello_awaited:
        wanted = sizeof(Hello);
        break;
    case Connection::State::hello_sent:
        wanted = sizeof(HelloReply);
        break;
    case Connection::State::reply_sent:
        wanted = sizeof(Confirm);
        break;
    case Connection::State::open: {
        wanted = sizeof(FrameHeader);
        wire::Envelope e{};
        if (c.in.size() >= wanted) {
            std::memcpy(&e, c.in.data() + offsetof(FrameHeader, envelope), sizeof e);
            wanted += e.inline_bytes;
        }
        break;
    }
    default:
        c.broken = to_sweep_ = true; // no data is allowed in the other states
        ++rejected_messages_;
        return bytes.size();
    }
    const size_t n = std::min(bytes.size(), wanted - c.in.size());
    c.in.append(reinterpret_cast<const char*>(bytes.data()), n);
    if (c.in.size() < wanted) return n;
    bool good = true;
    if (!c.is_open()) {
        good = on_handshake(c);
    } else if (wanted == sizeof(FrameHeader) &&
               static_cast<uint8_t>(
                   c.in[offsetof(FrameHeader, envelope) + offsetof(wire::Envelope, inline_bytes)]) != 0) {
        return n; // the payload follows
    } else {
        good = begin_frame(c);
    }
    if (!good) {
        c.broken = to_sweep_ = true;
        ++rejected_messages_;
    }
    return n;
}

// Called when header and payload are complete.
bool InterJobNetwork::begin_frame(Connection& c) {
    std::memcpy(&c.head, c.in.data(), sizeof c.head);
    const FrameHeader& h = c.head;
    if (h.envelope.inline_bytes > wire::inline_max || c.bye_received) return false;
    c.received = 0;
    switch (h.kind) {
    case Kind::message:
        if (h.bytes > max_eager_message) return false;
        c.body.resize(h.bytes);
        break;
    case Kind::bulk: {
        const auto to = fetching_.find({c.external, h.number});
        if (to == fetching_.end() || to->second.bytes != h.bytes || h.bytes == 0) return false;
        break;
    }
    case Kind::rts:
    case Kind::pull:
    case Kind::refuse:
    case Kind::bye:
        end_frame(c);
        return !c.broken;
    default:
        return false;
    }
    c.in_data = true;
    if (h.bytes == 0) end_frame(c);
    return true;
}

size_t InterJobNetwork::consume_data(Connection& c, std::span<const std::byte> bytes) {
    const size_t n = std::min<uint64_t>(bytes.size(), c.head.bytes - c.received);
    if (c.head.kind == Kind::message) {
        std::memcpy(c.body.data() + c.received, bytes.data(), n);
    } else {
        const BufferRef& to = fetching_.at({c.external, c.head.number});
        if (to.at != nullptr)
            std::memcpy(to.at + c.received, bytes.data(), n);
        else
            callbacks_.unpack(to.operation, c.received, bytes.data(), n);
    }
    c.received += n;
    if (c.received == c.head.bytes) end_frame(c);
    return n;
}

// Called when the frame is complete. Callbacks may send, and thus write to this connection.
void InterJobNetwork::end_frame(Connection& c) {
    c.in_data = false;
    ++events_;
    const FrameHeader h = c.head;
    const std::string in = std::exchange(c.in, {});
    const auto* const payload = reinterpret_cast<const std::byte*>(in.data()) + sizeof h;
    const transport::Arrival arrival{peer_of(c.external), h.envelope, payload,
                                     h.bytes > 0 && h.kind == Kind::message ? c.body.data() : nullptr,
                                     h.kind == Kind::message ? h.bytes : 0};
    switch (h.kind) {
    case Kind::message:
        return callbacks_.arrived(callbacks_.subject, arrival);
    case Kind::rts: {
        auto handle = std::make_unique<IncomingBulk>(); // only its address is used
        auto* const bytes = handle.get();
        pending_recvs_.emplace(bytes, PendingBulkRecv{{c.external, h.number}, std::move(handle)});
        return callbacks_.rts_arrived(callbacks_.subject, arrival, *bytes, h.bytes);
    }
    case Kind::pull:
    case Kind::refuse: {
        const auto found = pending_sends_.find(h.number);
        if (found == pending_sends_.end() || found->second.external != c.external) return;
        const BufferRef data = found->second.data;
        pending_sends_.erase(found);
        FrameHeader bulk;
        bulk.kind = Kind::bulk;
        bulk.number = h.number;
        bulk.bytes = data.bytes;
        const PostStatus posted =
            h.kind == Kind::pull ? post(c.external, bulk, nullptr, data, true) : PostStatus::done;
        if (posted != PostStatus::in_flight)
            callbacks_.sent(callbacks_.subject, data.operation,
                            posted == PostStatus::done ? OpStatus::done : OpStatus::failed);
        return;
    }
    case Kind::bulk: {
        const auto to = fetching_.find({c.external, h.number});
        void* const operation = to->second.operation;
        fetching_.erase(to);
        return callbacks_.fetched(callbacks_.subject, operation, OpStatus::done);
    }
    case Kind::bye: {
        c.bye_received = true;
        if (shutting_down_ && !c.bye_sent) send_bye(c.external);
        if (c.bye_sent) to_sweep_ = true;
        return;
    }
    }
}

void InterJobNetwork::on_closed(Connection& c) {
    const bool is_initiator =
        c.state == Connection::State::dialing || c.state == Connection::State::hello_sent;
    if (is_initiator && try_next_address(c)) return; // another process may listen at that address
    c.fd.reset();
    c.broken = to_sweep_ = true;
}

} // namespace zipmpi::interjob
