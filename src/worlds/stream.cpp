// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames out of and into connections.
#include "worlds/network.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>

namespace zipmpi::worlds {

using transport::ucx::Outcome;

namespace {

constexpr uint64_t longest_message = uint64_t{1} << 31; // that comes without being asked for
constexpr int reads_at_once = 8;
using Kind = FrameHead::Kind;

} // namespace

// As much as the socket takes. Negative: errno.
ssize_t WorldsNetwork::write_some(Connection& c, Connection::Out& out) {
    iovec parts[2];
    size_t n = 0;
    if (out.done < out.head.size()) {
        parts[n++] = {out.head.data() + out.done, out.head.size() - out.done};
    }
    const uint64_t at = out.done > out.head.size() ? out.done - out.head.size() : 0;
    const uint64_t left = out.data.bytes - at;
    if (left > 0 && out.data.at != nullptr) {
        parts[n++] = {out.data.at + at, left};
    } else if (left > 0) {
        const size_t some = std::min<uint64_t>(left, packing_.size());
        sink_.load(out.data.operation, at, packing_.data(), some);
        parts[n++] = {packing_.data(), some};
    }
    msghdr m{};
    m.msg_iov = parts;
    m.msg_iovlen = n;
    return sendmsg(c.fd.get(), &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void WorldsNetwork::write_out(Connection& c) {
    while (!c.out.empty() && !c.broken) {
        Connection::Out& out = c.out.front();
        const ssize_t n = write_some(c, out);
        if (n < 0) {
            if (errno == EINTR) continue;
            if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS) c.broken = to_sweep_ = true;
            break;
        }
        out.done += static_cast<uint64_t>(n);
        if (out.done < out.head.size() + out.data.bytes) continue;
        const bool tells = out.tells;
        void* const operation = out.data.operation;
        c.out.pop_front();
        if (tells) {
            ++happened_;
            sink_.sent(sink_.subject, operation, Outcome::done);
        }
    }
    if (c.out.empty() && c.said_bye && c.heard_bye) to_sweep_ = true;
    if (c.fd && c.watches_out != !c.out.empty()) static_cast<void>(watch(c));
}

// The bytes of a long message, without a detour.
bool WorldsNetwork::read_straight(Connection& c, bool& over) {
    if (!c.in_data || c.head.kind != Kind::bulk) return false;
    const auto to = receiving_.find({c.foreign, c.head.number});
    if (to == receiving_.end() || to->second.at == nullptr) return false;
    const ssize_t n = recv(c.fd.get(), to->second.at + c.got, c.head.bytes - c.got, MSG_DONTWAIT);
    over = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (n <= 0) return true;
    c.got += static_cast<uint64_t>(n);
    ++happened_;
    if (c.got == c.head.bytes) end_frame(c);
    return true;
}

void WorldsNetwork::read_in(Connection& c) {
    for (int i = 0; i < reads_at_once && !c.broken; ++i) {
        bool over = false;
        if (read_straight(c, over)) {
            if (over) return ended(c);
            continue;
        }
        const ssize_t n = recv(c.fd.get(), room_.data(), room_.size(), MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return ended(c);
        std::span<const std::byte> bytes(room_.data(), static_cast<size_t>(n));
        while (!bytes.empty() && !c.broken) bytes = bytes.subspan(feed(c, bytes));
    }
}

// Takes a part of the bytes and says how many.
size_t WorldsNetwork::feed(Connection& c, std::span<const std::byte> bytes) {
    if (c.in_data) return take_data(c, bytes);
    size_t wanted = 0;
    switch (c.state) {
    case Connection::State::answering:
        wanted = sizeof(Hello);
        break;
    case Connection::State::said_hello:
        wanted = sizeof(Welcome);
        break;
    case Connection::State::said_welcome:
        wanted = sizeof(Proof);
        break;
    case Connection::State::open: {
        wanted = sizeof(FrameHead);
        wire::Envelope e{};
        if (c.in.size() >= wanted) {
            std::memcpy(&e, c.in.data() + offsetof(FrameHead, envelope), sizeof e);
            wanted += e.inline_bytes;
        }
        break;
    }
    default:
        c.broken = to_sweep_ = true; // whoever waits does not talk
        ++strangers_;
        return bytes.size();
    }
    const size_t n = std::min(bytes.size(), wanted - c.in.size());
    c.in.append(reinterpret_cast<const char*>(bytes.data()), n);
    if (c.in.size() < wanted) return n;
    bool good = true;
    if (!c.is_open()) {
        good = take_greeting(c);
    } else if (wanted == sizeof(FrameHead) &&
               static_cast<uint8_t>(
                   c.in[offsetof(FrameHead, envelope) + offsetof(wire::Envelope, inline_bytes)]) != 0) {
        return n; // its payload comes next
    } else {
        good = begin_frame(c);
    }
    if (!good) {
        c.broken = to_sweep_ = true;
        ++strangers_;
    }
    return n;
}

// Its head and payload are there.
bool WorldsNetwork::begin_frame(Connection& c) {
    std::memcpy(&c.head, c.in.data(), sizeof c.head);
    const FrameHead& h = c.head;
    if (h.envelope.inline_bytes > wire::inline_max || c.heard_bye) return false;
    c.got = 0;
    switch (h.kind) {
    case Kind::message:
        if (h.bytes > longest_message) return false;
        c.body.resize(h.bytes);
        break;
    case Kind::bulk: {
        const auto to = receiving_.find({c.foreign, h.number});
        if (to == receiving_.end() || to->second.bytes != h.bytes || h.bytes == 0) return false;
        break;
    }
    case Kind::announce:
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

size_t WorldsNetwork::take_data(Connection& c, std::span<const std::byte> bytes) {
    const size_t n = std::min<uint64_t>(bytes.size(), c.head.bytes - c.got);
    if (c.head.kind == Kind::message) {
        std::memcpy(c.body.data() + c.got, bytes.data(), n);
    } else {
        const Memory& to = receiving_.at({c.foreign, c.head.number});
        if (to.at != nullptr)
            std::memcpy(to.at + c.got, bytes.data(), n);
        else
            sink_.store(to.operation, c.got, bytes.data(), n);
    }
    c.got += n;
    if (c.got == c.head.bytes) end_frame(c);
    return n;
}

// All of it is there. What is told to the protocols may send, and so write to this connection.
void WorldsNetwork::end_frame(Connection& c) {
    c.in_data = false;
    ++happened_;
    const FrameHead h = c.head;
    const std::string in = std::exchange(c.in, {});
    const auto* const payload = reinterpret_cast<const std::byte*>(in.data()) + sizeof h;
    const transport::Arrival arrival{peer_of(c.foreign), h.envelope, payload,
                                     h.bytes > 0 && h.kind == Kind::message ? c.body.data() : nullptr,
                                     h.kind == Kind::message ? h.bytes : 0};
    switch (h.kind) {
    case Kind::message:
        return sink_.arrived(sink_.subject, arrival);
    case Kind::announce: {
        auto mark = std::make_unique<char>();
        auto* const bytes = reinterpret_cast<Arriving*>(mark.get()); // only its address counts
        arriving_.emplace(bytes, Told{{c.foreign, h.number}, std::move(mark)});
        return sink_.announced(sink_.subject, arrival, *bytes, h.bytes);
    }
    case Kind::pull:
    case Kind::refuse: {
        const auto found = announced_.find(h.number);
        if (found == announced_.end() || found->second.foreign != c.foreign) return;
        const Memory data = found->second.data;
        announced_.erase(found);
        FrameHead bulk;
        bulk.kind = Kind::bulk;
        bulk.number = h.number;
        bulk.bytes = data.bytes;
        const Posted posted =
            h.kind == Kind::pull ? post(c.foreign, bulk, nullptr, data, true) : Posted::done;
        if (posted != Posted::under_way)
            sink_.sent(sink_.subject, data.operation,
                       posted == Posted::done ? Outcome::done : Outcome::failed);
        return;
    }
    case Kind::bulk: {
        const auto to = receiving_.find({c.foreign, h.number});
        void* const operation = to->second.operation;
        receiving_.erase(to);
        return sink_.received(sink_.subject, operation, Outcome::done);
    }
    case Kind::bye: {
        c.heard_bye = true;
        if (leaving_ && !c.said_bye) part_from(c.foreign);
        if (c.said_bye) to_sweep_ = true;
        return;
    }
    }
}

void WorldsNetwork::ended(Connection& c) {
    const bool ours = c.state == Connection::State::dialling || c.state == Connection::State::said_hello;
    if (ours && next_way(c)) return; // somebody else was there
    c.fd.reset();
    c.broken = to_sweep_ = true;
}

} // namespace zipmpi::worlds
