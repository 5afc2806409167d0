// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/frame_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace zipmpi::transport::tcp {
namespace {

constexpr size_t buffer_bytes = 64U << 10;
constexpr size_t max_buffered_frame = 4U << 10; // longer frames are read to their own buffer
constexpr size_t max_reads = 16;                // then other streams are served
constexpr size_t max_free_buffers = 64;
constexpr size_t max_copied = 4U << 10;   // data that cannot be sent immediately
constexpr size_t min_spliced = 32U << 10; // shorter data is copied faster
constexpr size_t max_pipes = 16;
constexpr int pipe_bytes = 1 << 20; // limits packets rather than bytes: a chunk has 90 or fewer

bool is_transient() { return errno == EAGAIN || errno == EINTR; }

// Bytes before the data, if already known; 0: more input is needed.
size_t head_bytes(const wire::Frame& f, std::span<const std::byte> come) {
    size_t bytes = sizeof f;
    if ((f.flags & wire::frame_has_ack) != 0) bytes += sizeof(wire::AckBlock);
    if ((f.flags & wire::frame_encrypted) != 0) return bytes + sizeof(wire::AeadHeader);
    if ((f.flags & wire::frame_has_data_checksum) != 0) bytes += sizeof(wire::DataChecksum);
    if (f.type != wire::FrameType::message) return bytes;
    if (come.size() < bytes + sizeof(wire::MessageHead)) return 0;
    wire::MessageHead head{};
    std::memcpy(&head, come.data() + bytes, sizeof head);
    return bytes + sizeof head + head.inline_bytes;
}

} // namespace

FrameBuffer* FrameBufferPool::acquire() {
    if (free_.empty()) return new FrameBuffer;
    FrameBuffer* const buffer = free_.back().release();
    free_.pop_back();
    return buffer;
}

// Data left in the pipe is dropped with it.
void FrameBufferPool::release(FrameBuffer* buffer) {
    std::unique_ptr<FrameBuffer> owned(buffer);
    if (buffer->pipe_in && (buffer->spliced_bytes != 0 || free_.size() >= max_free_buffers))
        close_pipe(*buffer);
    if (free_.size() < max_free_buffers) free_.push_back(std::move(owned));
}

bool FrameBufferPool::has_pipe(FrameBuffer& buffer) {
    if (buffer.pipe_in || pipes_exhausted_ || pipes_ >= max_pipes) return static_cast<bool>(buffer.pipe_in);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    buffer.pipe_out.reset(ends[0]);
    buffer.pipe_in.reset(ends[1]);
    ++pipes_;
    // The memory for pipes is limited per user.
    if (fcntl(ends[1], F_SETPIPE_SZ, pipe_bytes) >= pipe_bytes) return true;
    pipes_exhausted_ = true;
    close_pipe(buffer);
    return false;
}

void FrameBufferPool::close_pipe(FrameBuffer& buffer) {
    buffer.pipe_in.reset();
    buffer.pipe_out.reset();
    buffer.spliced_bytes = 0;
    --pipes_;
}

bool FrameBuffer::read_spliced(size_t data_bytes) {
    while (spliced_bytes != 0) {
        const ssize_t n = ::read(pipe_out.get(), bytes + data_bytes - spliced_bytes, spliced_bytes);
        if (n <= 0) return false;
        spliced_bytes -= static_cast<size_t>(n);
    }
    return true;
}

FrameStream::FrameStream(os::Fd fd, FrameBufferPool& pool, StreamListener& listener, StreamUse use)
    : fd_(std::move(fd))
    , pool_(pool)
    , listener_(listener)
    , use_(use) {
    in_.bytes.resize(buffer_bytes);
}

FrameStream::~FrameStream() {
    if (long_.buffer != nullptr) pool_.release(long_.buffer);
    for (const PendingWrite& out : out_.pending)
        if (out.ticket != nullptr) listener_.frame_sent(out.ticket);
}

int FrameStream::read() {
    int taken = 0;
    for (size_t i = 0; i < max_reads; ++i) {
        const bool is_long = long_.target != nullptr;
        size_t capacity = 0;
        const ssize_t n = read_some(capacity);
        if (n < 0 && is_transient()) return taken;
        if (n <= 0) return taken != 0 ? taken : -1; // the next read() reports it again
        (is_long ? long_.received : in_.end) += static_cast<size_t>(n);
        if (!is_long) {
            const int more = parse();
            if (more < 0) return -1;
            taken += more;
        } else if (long_.received == long_.expected) {
            finish_long();
            ++taken;
        }
        if (static_cast<size_t>(n) < capacity) break; // no more data available
    }
    return taken;
}

ssize_t FrameStream::read_some(size_t& capacity) {
    if (long_.target == nullptr) {
        capacity = in_.after_long ? max_buffered_frame : in_.bytes.size() - in_.end;
        return recv(fd_.get(), in_.bytes.data() + in_.end, capacity, MSG_DONTWAIT);
    }
    capacity = long_.expected - long_.received;
    if (long_.splices) {
        const ssize_t n =
            splice(fd_.get(), nullptr, long_.buffer->pipe_in.get(), nullptr, capacity, SPLICE_F_NONBLOCK);
        if (n > 0) long_.buffer->spliced_bytes += static_cast<size_t>(n);
        int there = 0;
        if (n >= 0 || errno != EAGAIN || ioctl(fd_.get(), FIONREAD, &there) != 0 || there == 0) return n;
        long_.splices = false; // the pipe is full of small packets
        if (!long_.buffer->read_spliced(long_.received)) return -1;
    }
    return recv(fd_.get(), long_.target + long_.received, capacity, MSG_DONTWAIT);
}

int FrameStream::parse() {
    int taken = 0;
    while (in_.end - in_.begin >= sizeof(wire::Frame)) {
        wire::Frame frame{};
        std::memcpy(&frame, in_.bytes.data() + in_.begin, sizeof frame);
        if (frame.magic != wire::frame_magic || frame.bytes > wire::frame_payload_max) return -1;
        const size_t whole = sizeof frame + frame.bytes;
        if (in_.end - in_.begin >= whole) {
            const size_t at = std::exchange(in_.begin, in_.begin + whole);
            in_.after_long = whole > max_buffered_frame;
            listener_.frame_arrived({in_.bytes.data() + at, whole}, {}, nullptr);
            ++taken;
        } else {
            if (whole > max_buffered_frame && !begin_long(frame, whole)) return -1;
            break;
        }
    }
    if (in_.begin != 0) std::memmove(in_.bytes.data(), in_.bytes.data() + in_.begin, in_.end - in_.begin);
    in_.end -= std::exchange(in_.begin, 0);
    return taken;
}

// Starts a long frame with the bytes already received. Returns false if they are not a valid frame.
bool FrameStream::begin_long(const wire::Frame& frame, size_t whole) {
    const std::span<const std::byte> come = in_.unparsed();
    const size_t head = head_bytes(frame, come);
    if (head == 0 || head > come.size()) return true;
    if (head >= whole) return false;
    long_.head.assign(come.begin(), come.begin() + static_cast<ptrdiff_t>(head));
    long_.expected = whole - head;
    long_.received = come.size() - head;
    long_.target = listener_.receive_buffer_for(long_.head, long_.expected);
    long_.discard = false;
    if (long_.target == nullptr) {
        long_.buffer = pool_.acquire();
        long_.target = long_.buffer->bytes;
    }
    std::memcpy(long_.target, come.data() + head, long_.received);
    long_.splices = use_ == StreamUse::forward_only && long_.buffer != nullptr &&
                    long_.expected - long_.received >= min_spliced && pool_.has_pipe(*long_.buffer);
    in_.begin = in_.end;
    in_.after_long = true;
    return true;
}

void FrameStream::finish_long() {
    std::byte* const data = std::exchange(long_.target, nullptr);
    FrameBuffer* const buffer = std::exchange(long_.buffer, nullptr);
    const bool kept = !long_.discard && listener_.frame_arrived(long_.head, {data, long_.expected}, buffer);
    if (buffer != nullptr && !kept) pool_.release(buffer);
}

void FrameStream::revoke_buffer(std::span<const std::byte> memory) {
    if (long_.target == nullptr || long_.buffer != nullptr || long_.target < memory.data() ||
        long_.target >= memory.data() + memory.size())
        return;
    long_.buffer = pool_.acquire();
    long_.target = long_.buffer->bytes;
    long_.discard = true;
}

ssize_t FrameStream::send_parts(std::span<const std::byte> head, std::span<const std::byte> data, int flags) {
    iovec parts[3];
    size_t used = 0;
    for (const std::span<const std::byte> part : {std::span<const std::byte>(out_.batched), head, data})
        if (!part.empty()) parts[used++] = {const_cast<std::byte*>(part.data()), part.size()};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = used;
    return sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT | flags);
}

// Sends as much as the socket accepts. Returns false if the connection is closed.
bool FrameStream::send_spliced(FrameBuffer& buffer) {
    while (buffer.spliced_bytes != 0) {
        const ssize_t n = splice(buffer.pipe_out.get(), nullptr, fd_.get(), nullptr, buffer.spliced_bytes,
                                 SPLICE_F_NONBLOCK);
        if (n <= 0) return n < 0 && is_transient();
        buffer.spliced_bytes -= static_cast<size_t>(n);
    }
    return true;
}

void FrameStream::queue_rest(size_t sent, std::span<const std::byte> head, std::span<const std::byte> data,
                             FrameTicket* ticket) {
    PendingWrite& out = out_.pending.emplace_back();
    out.ticket = ticket;
    const bool copies = ticket == nullptr;
    for (const std::span<const std::byte> part : {std::span<const std::byte>(out_.batched), head, data}) {
        const std::span<const std::byte> rest = part.subspan(std::min(sent, part.size()));
        sent -= part.size() - rest.size();
        if (part.data() == data.data() && !copies)
            out.data = rest;
        else
            out.bytes.insert(out.bytes.end(), rest.begin(), rest.end());
    }
    out_.batched.clear();
}

PostStatus FrameStream::send(std::span<const std::byte> head, std::span<const std::byte> data,
                             FrameTicket* ticket, FrameBuffer* buffer) {
    const bool piped = buffer != nullptr && buffer->spliced_bytes != 0;
    if (piped) data = buffer->in_memory(data);
    const ssize_t n = out_.pending.empty() ? send_parts(head, data, piped ? MSG_MORE : 0) : 0;
    if (n < 0 && !is_transient()) return PostStatus::failed;
    const size_t sent = n < 0 ? 0 : static_cast<size_t>(n);
    const bool all = sent == out_.batched.size() + head.size() + data.size();
    if (all && piped && !send_spliced(*buffer)) return PostStatus::failed;
    if (all && (!piped || buffer->spliced_bytes == 0)) {
        out_.batched.clear();
        return PostStatus::done;
    }
    const bool keeps_memory = piped || (data.size() > max_copied && ticket != nullptr);
    queue_rest(sent, head, data, keeps_memory ? ticket : nullptr);
    if (piped) out_.pending.back().buffer = buffer;
    return keeps_memory ? PostStatus::in_flight : PostStatus::done;
}

void FrameStream::batch(std::span<const std::byte> head, std::span<const std::byte> data) {
    out_.batched.insert(out_.batched.end(), head.begin(), head.end());
    out_.batched.insert(out_.batched.end(), data.begin(), data.end());
}

bool FrameStream::flush() { return out_.batched.empty() || send({}, {}, nullptr) != PostStatus::failed; }

// Writes up to the first frame with spliced data.
ssize_t FrameStream::write_parts() {
    constexpr size_t max_parts = 32;
    iovec parts[max_parts];
    size_t used = 0;
    size_t skip = out_.front_written;
    bool more = false;
    for (size_t i = 0; i < out_.pending.size() && used + 2 <= max_parts && !more; ++i) {
        for (const std::span<const std::byte> part :
             {std::span<const std::byte>(out_.pending[i].bytes), out_.pending[i].data}) {
            const size_t cut = std::min(skip, part.size());
            skip -= cut;
            if (cut == part.size()) continue;
            parts[used++] = {const_cast<std::byte*>(part.data() + cut), part.size() - cut};
        }
        more = out_.pending[i].spliced() != 0;
    }
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = used;
    return sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
}

bool FrameStream::write() {
    while (!out_.pending.empty()) {
        if (out_.front_written < out_.pending.front().in_memory()) {
            const ssize_t n = write_parts();
            if (n < 0) return is_transient();
            out_.front_written += static_cast<size_t>(n);
        }
        while (!out_.pending.empty() && out_.front_written >= out_.pending.front().in_memory()) {
            PendingWrite& first = out_.pending.front();
            if (first.spliced() != 0 && !send_spliced(*first.buffer)) return false;
            if (first.spliced() != 0) return true;
            out_.front_written -= first.in_memory();
            FrameTicket* const ticket = first.ticket;
            out_.pending.pop_front();
            if (ticket != nullptr) listener_.frame_sent(ticket);
        }
    }
    return true;
}

} // namespace zipmpi::transport::tcp
