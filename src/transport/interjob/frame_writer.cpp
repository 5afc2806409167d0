// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interjob/frame_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <sys/uio.h>

namespace zipmpi::interjob {
namespace {

constexpr size_t buffer_bytes = 256U << 10;

} // namespace

FrameWriter::FrameWriter(ConnectionTable& table, transport::NetworkListener& listener)
    : table_(table)
    , listener_(listener)
    , pack_buffer_(buffer_bytes) {}

// Returns a negative value and sets errno on error.
ssize_t FrameWriter::write_some(const Connection& c, QueuedFrame& out) {
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
        listener_.pack(out.data.operation, at, pack_buffer_.data(), some);
        parts[n++] = {pack_buffer_.data(), some};
    }
    msghdr m{};
    m.msg_iov = parts;
    m.msg_iovlen = n;
    return sendmsg(c.fd.get(), &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void FrameWriter::write_out(Connection& c) {
    while (!c.out.empty() && !c.broken) {
        QueuedFrame& out = c.out.front();
        const ssize_t n = write_some(c, out);
        if (n < 0) {
            if (errno == EINTR) continue;
            if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS) table_.mark_broken(c);
            break;
        }
        out.written += static_cast<uint64_t>(n);
        if (out.written < out.head.size() + out.data.bytes) continue;
        const bool notify = out.notify;
        transport::NetworkOperation* const operation = out.data.operation;
        c.out.pop_front();
        if (notify) {
            table_.count_event();
            listener_.send_finished(operation, transport::OpStatus::done);
        }
    }
    if (c.out.empty() && c.bye_sent && c.bye_received) table_.request_sweep();
    if (c.fd && c.watches_writable != !c.out.empty()) table_.update_watch(c);
}

} // namespace zipmpi::interjob
