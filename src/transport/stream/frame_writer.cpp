// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stream/frame_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <utility>

namespace zipmpi::transport::stream {
namespace {

constexpr size_t buffer_bytes = 256U << 10;
constexpr size_t max_sealed = 256U << 10; // bytes of records that wait for the socket

} // namespace

FrameWriter::FrameWriter(ConnectionTable& table, NetworkListener& listener)
    : table_(table)
    , listener_(listener)
    , pack_buffer_(buffer_bytes) {}

// Adds what is left of a frame. Returns false if nothing can follow it.
bool FrameWriter::append_rest(QueuedFrame& out, Parts& parts) {
    if (out.written < out.head_bytes) parts.add(out.head + out.written, out.head_bytes - out.written);
    const uint64_t at = out.written > out.head_bytes ? out.written - out.head_bytes : 0;
    const uint64_t left = out.data.bytes - at;
    if (left == 0) return true;
    if (out.data.at != nullptr) {
        parts.add(out.data.at + at, left);
        return true;
    }
    const size_t some = std::min<uint64_t>(left, pack_buffer_.size());
    listener_.pack(out.data.operation, at, pack_buffer_.data(), some);
    parts.add(pack_buffer_.data(), some);
    return false;
}

// Returns the number of bytes; negative: the socket accepts none now, or the connection is broken.
ssize_t FrameWriter::write_parts(Connection& c, Parts& parts) {
    if (c.condition == Connection::Condition::unwritable) return -1;
    msghdr m{};
    m.msg_iov = parts.list;
    m.msg_iovlen = parts.count;
    const ssize_t n = sendmsg(c.fd.get(), &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) return n;
    const bool retry = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == EINTR;
    if (c.is_open() && (errno == EPIPE || errno == ECONNRESET))
        c.condition = Connection::Condition::unwritable; // reading reports the end
    else if (!retry)
        table_.mark_broken(c);
    return n;
}

// Adds a frame to the records of a connection. Returns false if the rest must wait.
bool FrameWriter::seal(Connection& c, QueuedFrame& out) {
    while (out.written < out.bytes()) {
        if (c.sealed->unsent().size() >= max_sealed) return false;
        Parts parts; // NOLINT: filled as far as counted
        append_rest(out, parts);
        text_.clear();
        for (size_t i = 0; i < parts.count; ++i)
            text_.append(static_cast<const char*>(parts.list[i].iov_base),
                         std::min(parts.list[i].iov_len, max_record_text - text_.size()));
        if (!c.sealed->add(text_)) {
            table_.mark_broken(c); // out of memory
            return false;
        }
        out.written += text_.size();
    }
    return true;
}

// Returns false if the socket accepts no more.
bool FrameWriter::write_sealed(Connection& c) {
    while (!c.sealed->unsent().empty()) {
        const std::string_view unsent = c.sealed->unsent();
        Parts parts; // NOLINT: filled as far as counted
        parts.add(reinterpret_cast<std::byte*>(const_cast<char*>(unsent.data())), unsent.size());
        const ssize_t n = write_parts(c, parts);
        if (n < 0) return false;
        c.sealed->take_sent(static_cast<size_t>(n));
    }
    return true;
}

bool FrameWriter::write_now(Connection& c, QueuedFrame& out) {
    if (c.sealed != nullptr) {
        const bool whole = seal(c, out);
        return write_sealed(c) && whole;
    }
    Parts parts; // NOLINT: filled as far as counted
    append_rest(out, parts);
    const ssize_t n = write_parts(c, parts);
    if (n < 0) return false;
    out.written += static_cast<uint64_t>(n);
    return out.written == out.bytes();
}

void FrameWriter::write_out(Connection& c) {
    while (c.sealed != nullptr && c.has_output() && !c.is_broken()) {
        if (!write_sealed(c)) break;
        for (QueuedFrame& out : c.out)
            if (!seal(c, out)) break;
        take_written(c, 0);
    }
    while (c.sealed == nullptr && !c.out.empty() && !c.is_broken()) {
        Parts parts; // NOLINT: filled as far as counted
        for (QueuedFrame& out : c.out)
            if (!append_rest(out, parts) || !parts.has_capacity()) break;
        const ssize_t n = write_parts(c, parts);
        if (n < 0) break;
        take_written(c, static_cast<uint64_t>(n));
    }
    if (c.out.empty() && c.bye_sent && c.bye_received) table_.request_sweep();
    if (c.fd && c.watches_writable != c.has_output()) table_.update_watch(c);
}

// The listener may send: it is called when the queue is consistent.
void FrameWriter::take_written(Connection& c, uint64_t bytes) {
    std::vector<NetworkOperation*> finished = std::exchange(finished_, {});
    while (!c.out.empty()) {
        QueuedFrame& out = c.out.front();
        const uint64_t some = std::min(bytes, out.bytes() - out.written);
        out.written += some;
        bytes -= some;
        if (out.written < out.bytes()) break;
        if (out.notify) finished.push_back(out.data.operation);
        c.out.pop_front();
    }
    for (NetworkOperation* const operation : finished) {
        table_.count_event();
        listener_.send_finished(operation, OpStatus::done);
    }
    finished.clear();
    finished_ = std::move(finished);
}

void FrameWriter::defer(Connection& c) {
    if (!std::exchange(c.deferred, true)) deferred_.push_back(c.number);
}

void FrameWriter::write_deferred() {
    std::vector<uint64_t> numbers = std::exchange(deferred_, {});
    for (const uint64_t number : numbers) {
        Connection* const c = table_.find(number);
        if (c == nullptr) continue;
        c->deferred = false;
        write_out(*c);
    }
}

} // namespace zipmpi::transport::stream
