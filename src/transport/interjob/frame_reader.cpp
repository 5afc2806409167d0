// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interjob/frame_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <utility>

namespace zipmpi::interjob {

using transport::OpStatus;

namespace {

constexpr size_t buffer_bytes = 256U << 10;
constexpr uint64_t max_eager_message = uint64_t{1} << 30; // bytes of a message that was not pulled
constexpr uint64_t max_reserved = uint64_t{1} << 20;      // bytes reserved before they arrive
constexpr int max_reads = 8;
using Kind = FrameHeader::Kind;

// Bytes of payload that the header received so far announces.
size_t payload_bytes(const Connection& c) {
    constexpr size_t at = offsetof(FrameHeader, envelope) + offsetof(wire::Envelope, inline_bytes);
    return c.in.size() < sizeof(FrameHeader) ? 0 : static_cast<uint8_t>(c.in[at]);
}

} // namespace

FrameReader::FrameReader(const Services& services)
    : use_(services)
    , read_buffer_(buffer_bytes) {}

// Reads the data of a rendezvous message directly to its destination.
bool FrameReader::read_in_place(Connection& c, bool& over) {
    IncomingFrame& f = c.frame;
    if (!f.in_data || f.head.kind != Kind::bulk) return false;
    const BufferRef* const to = use_.transfers.find_fetch({c.external, f.head.number});
    if (to == nullptr || to->at == nullptr) return false;
    const ssize_t n = recv(c.fd.get(), to->at + f.received, f.head.bytes - f.received, MSG_DONTWAIT);
    over = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (n <= 0) return true;
    f.received += static_cast<uint64_t>(n);
    use_.table.count_event();
    if (f.received == f.head.bytes) end_frame(c);
    return true;
}

void FrameReader::read_in(Connection& c) {
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

// Length of the handshake message, or of header and payload as far as known. 0: no data is allowed.
size_t FrameReader::wanted_bytes(const Connection& c) {
    if (!c.is_open()) return ConnectionSetup::expected_bytes(c.state);
    return sizeof(FrameHeader) + payload_bytes(c);
}

// Consumes bytes and returns how many.
size_t FrameReader::feed(Connection& c, std::span<const std::byte> bytes) {
    if (c.frame.in_data) return consume_data(c, bytes);
    const size_t wanted = wanted_bytes(c);
    if (wanted == 0) {
        reject(c);
        return bytes.size();
    }
    const size_t n = std::min(bytes.size(), wanted - c.in.size());
    c.in.append(reinterpret_cast<const char*>(bytes.data()), n);
    if (c.in.size() >= wanted && !handle_head(c)) reject(c);
    return n;
}

bool FrameReader::handle_head(Connection& c) {
    if (!c.is_open()) return use_.setup.on_handshake(c);
    if (c.in.size() < wanted_bytes(c)) return true; // the payload follows
    return begin_frame(c);
}

void FrameReader::reject(Connection& c) {
    use_.table.mark_broken(c);
    ++rejected_;
}

// Called when header and payload are complete.
bool FrameReader::begin_frame(Connection& c) {
    IncomingFrame& f = c.frame;
    std::memcpy(&f.head, c.in.data(), sizeof f.head);
    if (f.head.envelope.inline_bytes > wire::inline_max || c.bye_received) return false;
    f.received = 0;
    switch (f.head.kind) {
    case Kind::message:
        if (f.head.bytes > max_eager_message || !is_permitted(c)) return false;
        f.body.clear();
        f.body.reserve(std::min(f.head.bytes, max_reserved));
        break;
    case Kind::bulk:
        if (!use_.transfers.begin_delivery({c.external, f.head.number}, f.head.bytes)) return false;
        break;
    case Kind::rts:
        if (!is_permitted(c) || !use_.transfers.is_new_announcement({c.external, f.head.number}))
            return false;
        end_frame(c);
        return !c.broken;
    case Kind::pull:
    case Kind::refuse:
    case Kind::bye:
        end_frame(c);
        return !c.broken;
    default:
        return false;
    }
    f.in_data = true;
    if (f.head.bytes == 0) end_frame(c);
    return true;
}

// Whether the peer may send such a message: processes of another job use the contexts of the communicators
// that they share with this process, no others.
bool FrameReader::is_permitted(const Connection& c) const {
    const wire::Envelope& e = c.frame.head.envelope;
    uint32_t context = e.context;
    switch (e.kind) {
    case wire::MessageKind::eager:
    case wire::MessageKind::rts:
        return use_.peers.may_use(c.external, context);
    case wire::MessageKind::revoke:
        if (e.inline_bytes != sizeof context) return false;
        std::memcpy(&context, c.in.data() + sizeof(FrameHeader), sizeof context);
        return use_.peers.may_use(c.external, context);
    case wire::MessageKind::context_release:
        return false; // contexts are allocated within a job
    default:
        return true;
    }
}

size_t FrameReader::consume_data(Connection& c, std::span<const std::byte> bytes) {
    IncomingFrame& f = c.frame;
    const size_t n = std::min<uint64_t>(bytes.size(), f.head.bytes - f.received);
    if (f.head.kind == Kind::message) {
        f.body.insert(f.body.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(n));
    } else {
        const BufferRef& to = *use_.transfers.find_fetch({c.external, f.head.number});
        if (to.at != nullptr)
            std::memcpy(to.at + f.received, bytes.data(), n);
        else
            use_.listener.unpack(to.operation, f.received, bytes.data(), n);
    }
    f.received += n;
    if (f.received == f.head.bytes) end_frame(c);
    return n;
}

// Called when the frame is complete.
void FrameReader::end_frame(Connection& c) {
    c.frame.in_data = false;
    use_.table.count_event();
    const FrameHeader h = c.frame.head;
    const std::string in = std::exchange(c.in, {});
    const auto* const payload = reinterpret_cast<const std::byte*>(in.data()) + sizeof h;
    const bool has_data = h.kind == Kind::message && h.bytes > 0;
    const transport::Arrival arrival{use_.peers.peer_of(c.external), h.envelope, payload,
                                     has_data ? c.frame.body.data() : nullptr, has_data ? h.bytes : 0};
    switch (h.kind) {
    case Kind::message:
        return use_.listener.message_arrived(arrival);
    case Kind::rts:
        return use_.listener.rts_arrived(arrival, use_.transfers.add_announced({c.external, h.number}),
                                         h.bytes);
    case Kind::pull:
    case Kind::refuse:
        return on_pull(c.external, h);
    case Kind::bulk:
        return use_.listener.fetch_finished(use_.transfers.end_fetch({c.external, h.number}), OpStatus::done);
    case Kind::bye:
        return use_.sender.on_bye(c);
    }
}

// The peer wants the data of a rendezvous message, or declines it.
void FrameReader::on_pull(int external, const FrameHeader& head) {
    const std::optional<BufferRef> data = use_.transfers.take_send({external, head.number});
    if (!data) return;
    FrameHeader bulk;
    bulk.kind = Kind::bulk;
    bulk.number = head.number;
    bulk.bytes = data->bytes;
    const PostStatus posted =
        head.kind == Kind::pull ? use_.sender.post(external, bulk, nullptr, *data) : PostStatus::done;
    if (posted != PostStatus::in_flight)
        use_.listener.send_finished(data->operation,
                                    posted == PostStatus::done ? OpStatus::done : OpStatus::failed);
}

void FrameReader::on_closed(Connection& c) {
    // Another process may listen at that address.
    if (c.is_initiator() && use_.setup.try_next_address(c)) return;
    c.fd.reset();
    use_.table.mark_broken(c);
}

} // namespace zipmpi::interjob
