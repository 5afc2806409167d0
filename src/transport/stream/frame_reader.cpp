// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stream/frame_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <utility>

namespace zipmpi::transport::stream {
namespace {

constexpr size_t buffer_bytes = 256U << 10;
constexpr uint64_t max_eager_message = uint64_t{1} << 30; // bytes of a message that was not pulled
constexpr uint64_t max_relayed = uint64_t{1} << 20;       // bytes of frames of a gateway
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
FrameReader::InPlace FrameReader::read_in_place(Connection& c) {
    IncomingFrame& f = c.frame;
    if (!f.in_data || f.head.kind != Kind::bulk || c.sealed != nullptr) return InPlace::no;
    const BufferRef* const to = use_.transfers.find_fetch({c.peer, f.head.number});
    if (to == nullptr || to->at == nullptr) return InPlace::no;
    const ssize_t n = recv(c.fd.get(), to->at + f.received, f.head.bytes - f.received, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return InPlace::drained;
    if (n <= 0) return InPlace::closed;
    f.received += static_cast<uint64_t>(n);
    use_.table.count_event();
    if (f.received == f.head.bytes) end_frame(c);
    return InPlace::done;
}

void FrameReader::read_in(Connection& c) {
    for (int i = 0; i < max_reads && !c.is_broken(); ++i) {
        const InPlace in_place = read_in_place(c);
        if (in_place == InPlace::done) continue;
        if (in_place == InPlace::drained) return;
        const ssize_t n = in_place == InPlace::closed
                              ? 0
                              : recv(c.fd.get(), read_buffer_.data(), read_buffer_.size(), MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
        if (n <= 0) return on_closed(c);
        receive(c, {read_buffer_.data(), static_cast<size_t>(n)});
        if (static_cast<size_t>(n) < read_buffer_.size()) return; // there was no more
    }
}

// Records may follow the end of the handshake.
void FrameReader::receive(Connection& c, std::span<const std::byte> bytes) {
    while (!bytes.empty() && !c.is_broken() && c.sealed == nullptr) bytes = bytes.subspan(feed(c, bytes));
    if (bytes.empty() || c.is_broken()) return;
    opened_.clear();
    if (!c.sealed->open({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, opened_))
        return reject(c);
    std::span<const std::byte> text = std::as_bytes(std::span(opened_));
    while (!text.empty() && !c.is_broken()) text = text.subspan(feed(c, text));
}

// Length of the handshake message, or of header and payload as far as known. 0: no data is allowed.
size_t FrameReader::wanted_bytes(const Connection& c) {
    if (!c.is_open()) return ConnectionSetup::expected_bytes(c.state);
    return sizeof(FrameHeader) + payload_bytes(c);
}

// Consumes bytes and returns how many.
size_t FrameReader::feed(Connection& c, std::span<const std::byte> bytes) {
    if (c.frame.in_data) return consume_data(c, bytes);
    if (c.is_open() && c.in.empty())
        if (const size_t used = feed_whole(c, bytes); used != 0) return used;
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

// Delivers a frame of which all bytes have arrived. Returns their number; 0: more follow, or it is not valid.
size_t FrameReader::feed_whole(Connection& c, std::span<const std::byte> bytes) {
    FrameHeader head; // NOLINT: filled next
    if (bytes.size() < sizeof head) return 0;
    std::memcpy(&head, bytes.data(), sizeof head);
    const size_t head_bytes = sizeof head + head.envelope.inline_bytes;
    const bool has_data =
        head.kind == Kind::message || head.kind == Kind::relayed || head.kind == Kind::offer;
    const uint64_t data_bytes = has_data ? head.bytes : 0;
    if (head.kind == Kind::bulk || bytes.size() < head_bytes || bytes.size() - head_bytes < data_bytes)
        return 0;
    const std::byte* const payload = bytes.data() + sizeof head;
    if (!may_begin(c, head, payload)) return 0;
    deliver(c, head, payload, bytes.subspan(head_bytes, data_bytes));
    return head_bytes + data_bytes;
}

// Checks the header of a frame.
bool FrameReader::may_begin(const Connection& c, const FrameHeader& head, const std::byte* payload) const {
    if (head.envelope.inline_bytes > wire::inline_max || c.bye_received) return false;
    switch (head.kind) {
    case Kind::message:
        return head.bytes <= max_eager_message && use_.peers.may_send(c.peer, head.envelope, payload);
    case Kind::rts:
        return use_.peers.may_send(c.peer, head.envelope, payload) &&
               use_.transfers.is_new_announcement({c.peer, head.number});
    case Kind::relayed:
    case Kind::offer:
        return use_.relays != nullptr && head.bytes <= max_relayed;
    case Kind::pull:
    case Kind::refuse:
    case Kind::bulk:
    case Kind::bye:
    case Kind::leaving:
        return true;
    }
    return false;
}

// Called when header and payload are complete.
bool FrameReader::begin_frame(Connection& c) {
    IncomingFrame& f = c.frame;
    std::memcpy(&f.head, c.in.data(), sizeof f.head);
    if (!may_begin(c, f.head, reinterpret_cast<const std::byte*>(c.in.data()) + sizeof f.head)) return false;
    f.received = 0;
    f.in_data = f.head.kind == Kind::message || f.head.kind == Kind::bulk || f.head.kind == Kind::relayed ||
                f.head.kind == Kind::offer;
    if (f.head.kind == Kind::bulk && !use_.transfers.begin_delivery({c.peer, f.head.number}, f.head.bytes))
        return false;
    f.body.clear();
    if (f.in_data && f.head.kind != Kind::bulk) f.body.reserve(std::min(f.head.bytes, max_reserved));
    if (!f.in_data || f.head.bytes == 0) end_frame(c);
    return !c.is_broken();
}

size_t FrameReader::consume_data(Connection& c, std::span<const std::byte> bytes) {
    IncomingFrame& f = c.frame;
    const size_t n = std::min<uint64_t>(bytes.size(), f.head.bytes - f.received);
    if (f.head.kind != Kind::bulk) {
        f.body.insert(f.body.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(n));
    } else {
        const BufferRef& to = *use_.transfers.find_fetch({c.peer, f.head.number});
        if (to.at != nullptr)
            std::memcpy(to.at + f.received, bytes.data(), n);
        else
            use_.listener.unpack(to.operation, f.received, bytes.data(), n);
    }
    f.received += n;
    if (f.received == f.head.bytes) end_frame(c);
    return n;
}

// Called when the frame is complete. The listener may keep nothing, but may start other frames.
void FrameReader::end_frame(Connection& c) {
    c.frame.in_data = false;
    const FrameHeader head = c.frame.head;
    const std::string in = std::exchange(c.in, {});
    std::vector<std::byte> body = std::exchange(c.frame.body, {});
    deliver(c, head, reinterpret_cast<const std::byte*>(in.data()) + sizeof head, body);
    if (body.capacity() > max_reserved) return;
    body.clear();
    c.frame.body = std::move(body); // for the next frame
}

void FrameReader::deliver(Connection& c, const FrameHeader& h, const std::byte* payload,
                          std::span<const std::byte> data) {
    use_.table.count_event();
    wire::Envelope envelope = h.envelope;
    envelope.flags &= wire::flags_between_hosts;
    const Arrival arrival{use_.peers.peer_of(c.peer), envelope, payload, data.empty() ? nullptr : data.data(),
                          data.size()};
    switch (h.kind) {
    case Kind::message:
        return use_.listener.message_arrived(arrival);
    case Kind::rts:
        return use_.listener.rts_arrived(arrival, use_.transfers.add_announced({c.peer, h.number}), h.bytes);
    case Kind::pull:
    case Kind::refuse:
        return on_pull(c.peer, h);
    case Kind::bulk:
        return use_.listener.fetch_finished(use_.transfers.end_fetch({c.peer, h.number}), OpStatus::done);
    case Kind::bye:
        return use_.sender.on_bye(c);
    case Kind::leaving:
        use_.peers.link(c.peer).left = true;
        return;
    case Kind::relayed:
        return use_.relays->relayed_arrived(c.peer, data);
    case Kind::offer:
        return use_.relays->offer_arrived(c.peer, data);
    }
}

// The peer wants the data of a rendezvous message, or declines it.
void FrameReader::on_pull(int peer, const FrameHeader& head) {
    const std::optional<BufferRef> data = use_.transfers.take_send({peer, head.number});
    if (!data) return;
    FrameHeader bulk;
    bulk.kind = Kind::bulk;
    bulk.number = head.number;
    bulk.bytes = data->bytes;
    const PostStatus posted =
        head.kind == Kind::pull ? use_.sender.post(peer, bulk, nullptr, *data) : PostStatus::done;
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

} // namespace zipmpi::transport::stream
