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

FrameStream::FrameStream(os::Fd fd, FrameBufferPool& pool, const StreamCallbacks& user)
    : fd_(std::move(fd))
    , pool_(pool)
    , callbacks_(user)
    , buffer_(buffer_bytes) {}

FrameStream::~FrameStream() {
    if (frame_buffer_ != nullptr) pool_.release(frame_buffer_);
    for (const PendingWrite& out : pending_writes_)
        if (out.ticket != nullptr) callbacks_.frame_sent(callbacks_.subject, out.ticket);
}

int FrameStream::read() {
    int taken = 0;
    for (size_t i = 0; i < max_reads; ++i) {
        const bool is_long = target_ != nullptr;
        size_t capacity = 0;
        const ssize_t n = read_some(capacity);
        if (n < 0 && is_transient()) return taken;
        if (n <= 0) return taken != 0 ? taken : -1; // the next read() reports it again
        (is_long ? received_ : end_) += static_cast<size_t>(n);
        if (!is_long) {
            const int more = parse();
            if (more < 0) return -1;
            taken += more;
        } else if (received_ == expected_) {
            finish_long();
            ++taken;
        }
        if (static_cast<size_t>(n) < capacity) break; // no more data available
    }
    return taken;
}

ssize_t FrameStream::read_some(size_t& capacity) {
    if (target_ == nullptr) {
        capacity = after_long_ ? max_buffered_frame : buffer_.size() - end_;
        return recv(fd_.get(), buffer_.data() + end_, capacity, MSG_DONTWAIT);
    }
    capacity = expected_ - received_;
    if (splices_) {
        const ssize_t n =
            splice(fd_.get(), nullptr, frame_buffer_->pipe_in.get(), nullptr, capacity, SPLICE_F_NONBLOCK);
        if (n > 0) frame_buffer_->spliced_bytes += static_cast<size_t>(n);
        int there = 0;
        if (n >= 0 || errno != EAGAIN || ioctl(fd_.get(), FIONREAD, &there) != 0 || there == 0) return n;
        splices_ = false; // the pipe is full of small packets
        if (!frame_buffer_->read_spliced(received_)) return -1;
    }
    return recv(fd_.get(), target_ + received_, capacity, MSG_DONTWAIT);
}

int FrameStream::parse() {
    int taken = 0;
    while (end_ - begin_ >= sizeof(wire::Frame)) {
        wire::Frame frame{};
        std::memcpy(&frame, buffer_.data() + begin_, sizeof frame);
        if (frame.magic != wire::frame_magic || frame.bytes > wire::frame_payload_max) return -1;
        const size_t whole = sizeof frame + frame.bytes;
        if (end_ - begin_ >= whole) {
            const size_t at = std::exchange(begin_, begin_ + whole);
            after_long_ = whole > max_buffered_frame;
            callbacks_.frame_arrived(callbacks_.subject, {buffer_.data() + at, whole}, {}, nullptr);
            ++taken;
        } else {
            if (whole > max_buffered_frame && !begin_long(frame, whole)) return -1;
            break;
        }
    }
    if (begin_ != 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    return taken;
}

// Starts a long frame with the bytes already received. Returns false if they are not a valid frame.
bool FrameStream::begin_long(const wire::Frame& frame, size_t whole) {
    const std::span come(buffer_.data() + begin_, end_ - begin_);
    const size_t head = head_bytes(frame, come);
    if (head == 0 || head > come.size()) return true;
    if (head >= whole) return false;
    head_.assign(come.begin(), come.begin() + static_cast<ptrdiff_t>(head));
    expected_ = whole - head;
    received_ = come.size() - head;
    target_ = callbacks_.receive_buffer_for != nullptr
                  ? callbacks_.receive_buffer_for(callbacks_.subject, head_, expected_)
                  : nullptr;
    discard_ = false;
    if (target_ == nullptr) {
        frame_buffer_ = pool_.acquire();
        target_ = frame_buffer_->bytes;
    }
    std::memcpy(target_, come.data() + head, received_);
    splices_ = callbacks_.forward_only && frame_buffer_ != nullptr && expected_ - received_ >= min_spliced &&
               pool_.has_pipe(*frame_buffer_);
    begin_ = end_;
    after_long_ = true;
    return true;
}

void FrameStream::finish_long() {
    std::byte* const data = std::exchange(target_, nullptr);
    FrameBuffer* const buffer = std::exchange(frame_buffer_, nullptr);
    const bool kept =
        !discard_ && callbacks_.frame_arrived(callbacks_.subject, head_, {data, expected_}, buffer);
    if (buffer != nullptr && !kept) pool_.release(buffer);
}

void FrameStream::revoke_buffer(std::span<const std::byte> memory) {
    if (target_ == nullptr || frame_buffer_ != nullptr || target_ < memory.data() ||
        target_ >= memory.data() + memory.size())
        return;
    frame_buffer_ = pool_.acquire();
    target_ = frame_buffer_->bytes;
    discard_ = true;
}

ssize_t FrameStream::send_parts(std::span<const std::byte> head, std::span<const std::byte> data, bool more) {
    iovec parts[3];
    size_t used = 0;
    for (const std::span<const std::byte> part : {std::span<const std::byte>(batched_), head, data})
        if (!part.empty()) parts[used++] = {const_cast<std::byte*>(part.data()), part.size()};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = used;
    return sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
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
                             void* ticket) {
    PendingWrite& out = pending_writes_.emplace_back();
    out.ticket = ticket;
    const bool copies = ticket == nullptr;
    for (const std::span<const std::byte> part : {std::span<const std::byte>(batched_), head, data}) {
        const std::span<const std::byte> rest = part.subspan(std::min(sent, part.size()));
        sent -= part.size() - rest.size();
        if (part.data() == data.data() && !copies)
            out.data = rest;
        else
            out.bytes.insert(out.bytes.end(), rest.begin(), rest.end());
    }
    batched_.clear();
}

PostStatus FrameStream::send(std::span<const std::byte> head, std::span<const std::byte> data, void* ticket,
                             FrameBuffer* buffer) {
    const bool piped = buffer != nullptr && buffer->spliced_bytes != 0;
    if (piped) data = buffer->in_memory(data);
    const ssize_t n = pending_writes_.empty() ? send_parts(head, data, piped) : 0;
    if (n < 0 && !is_transient()) return PostStatus::failed;
    const size_t sent = n < 0 ? 0 : static_cast<size_t>(n);
    const bool all = sent == batched_.size() + head.size() + data.size();
    if (all && piped && !send_spliced(*buffer)) return PostStatus::failed;
    if (all && (!piped || buffer->spliced_bytes == 0)) {
        batched_.clear();
        return PostStatus::done;
    }
    const bool keeps_memory = piped || (data.size() > max_copied && ticket != nullptr);
    queue_rest(sent, head, data, keeps_memory ? ticket : nullptr);
    if (piped) pending_writes_.back().buffer = buffer;
    return keeps_memory ? PostStatus::in_flight : PostStatus::done;
}

void FrameStream::batch(std::span<const std::byte> head, std::span<const std::byte> data) {
    batched_.insert(batched_.end(), head.begin(), head.end());
    batched_.insert(batched_.end(), data.begin(), data.end());
}

bool FrameStream::flush() { return batched_.empty() || send({}, {}, nullptr) != PostStatus::failed; }

// Writes up to the first frame with spliced data.
ssize_t FrameStream::write_parts() {
    constexpr size_t max_parts = 32;
    iovec parts[max_parts];
    size_t used = 0;
    size_t skip = front_written_;
    bool more = false;
    for (size_t i = 0; i < pending_writes_.size() && used + 2 <= max_parts && !more; ++i) {
        for (const std::span<const std::byte> part :
             {std::span<const std::byte>(pending_writes_[i].bytes), pending_writes_[i].data}) {
            const size_t cut = std::min(skip, part.size());
            skip -= cut;
            if (cut == part.size()) continue;
            parts[used++] = {const_cast<std::byte*>(part.data() + cut), part.size() - cut};
        }
        more = pending_writes_[i].spliced() != 0;
    }
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = used;
    return sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
}

bool FrameStream::write() {
    while (!pending_writes_.empty()) {
        if (front_written_ < pending_writes_.front().in_memory()) {
            const ssize_t n = write_parts();
            if (n < 0) return is_transient();
            front_written_ += static_cast<size_t>(n);
        }
        while (!pending_writes_.empty() && front_written_ >= pending_writes_.front().in_memory()) {
            PendingWrite& first = pending_writes_.front();
            if (first.spliced() != 0 && !send_spliced(*first.buffer)) return false;
            if (first.spliced() != 0) return true;
            front_written_ -= first.in_memory();
            void* const ticket = first.ticket;
            pending_writes_.pop_front();
            if (ticket != nullptr) callbacks_.frame_sent(callbacks_.subject, ticket);
        }
    }
    return true;
}

} // namespace zipmpi::transport::tcp
