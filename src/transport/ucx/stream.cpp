// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

constexpr size_t buffer_bytes = 64U << 10;
constexpr size_t longest_in_buffer = 4U << 10; // longer frames are read to memory of their own
constexpr size_t most_reads = 16;              // then it is somebody else's turn
constexpr size_t most_free_rooms = 64;
constexpr size_t longest_copied = 4U << 10; // data that does not leave at once
constexpr size_t least_piped = 32U << 10;   // shorter data is quicker copied
constexpr size_t most_pipes = 16;
constexpr int pipe_bytes = 1 << 20; // counts packets rather than bytes: a chunk has 90 or fewer

bool later() { return errno == EAGAIN || errno == EINTR; }

// Bytes before the data, as far as they can be told apart; 0: more must come first.
size_t head_bytes(const wire::Frame& f, std::span<const std::byte> come) {
    size_t bytes = sizeof f;
    if ((f.flags & wire::frame_has_ack) != 0) bytes += sizeof(wire::AckBlock);
    if ((f.flags & wire::frame_sealed) != 0) return bytes + sizeof(wire::Seal);
    if (f.type != wire::FrameType::message) return bytes;
    if (come.size() < bytes + sizeof(wire::MessageHead)) return 0;
    wire::MessageHead head{};
    std::memcpy(&head, come.data() + bytes, sizeof head);
    return bytes + sizeof head + head.inline_bytes;
}

} // namespace

Room* Rooms::take() {
    if (free_.empty()) return new Room;
    Room* const room = free_.back().release();
    free_.pop_back();
    return room;
}

// What is left in the pipe goes with it.
void Rooms::give(Room* room) {
    std::unique_ptr<Room> owned(room);
    if (room->pipe_in && (room->piped != 0 || free_.size() >= most_free_rooms)) close_pipe(*room);
    if (free_.size() < most_free_rooms) free_.push_back(std::move(owned));
}

bool Rooms::has_pipe(Room& room) {
    if (room.pipe_in || no_more_pipes_ || pipes_ >= most_pipes) return static_cast<bool>(room.pipe_in);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    room.pipe_out.reset(ends[0]);
    room.pipe_in.reset(ends[1]);
    ++pipes_;
    // A user has only so much memory for pipes.
    if (fcntl(ends[1], F_SETPIPE_SZ, pipe_bytes) >= pipe_bytes) return true;
    no_more_pipes_ = true;
    close_pipe(room);
    return false;
}

void Rooms::close_pipe(Room& room) {
    room.pipe_in.reset();
    room.pipe_out.reset();
    room.piped = 0;
    --pipes_;
}

bool Room::fetch(size_t data_bytes) {
    while (piped != 0) {
        const ssize_t n = ::read(pipe_out.get(), bytes + data_bytes - piped, piped);
        if (n <= 0) return false;
        piped -= static_cast<size_t>(n);
    }
    return true;
}

Stream::Stream(os::Fd fd, Rooms& rooms, const User& user)
    : fd_(std::move(fd))
    , rooms_(rooms)
    , user_(user)
    , buffer_(buffer_bytes) {}

Stream::~Stream() {
    if (room_ != nullptr) rooms_.give(room_);
    for (const Out& out : out_)
        if (out.ticket != nullptr) user_.left(user_.subject, out.ticket);
}

int Stream::read() {
    int taken = 0;
    for (size_t i = 0; i < most_reads; ++i) {
        const bool is_long = target_ != nullptr;
        size_t room = 0;
        const ssize_t n = read_some(room);
        if (n < 0 && later()) return taken;
        if (n <= 0) return taken != 0 ? taken : -1; // the next look finds out again
        (is_long ? got_ : end_) += static_cast<size_t>(n);
        if (!is_long) {
            const int more = parse();
            if (more < 0) return -1;
            taken += more;
        } else if (got_ == wanted_) {
            finish_long();
            ++taken;
        }
        if (static_cast<size_t>(n) < room) break; // that was all
    }
    return taken;
}

ssize_t Stream::read_some(size_t& room) {
    if (target_ == nullptr) {
        room = after_long_ ? longest_in_buffer : buffer_.size() - end_;
        return recv(fd_.get(), buffer_.data() + end_, room, MSG_DONTWAIT);
    }
    room = wanted_ - got_;
    if (splices_) {
        const ssize_t n = splice(fd_.get(), nullptr, room_->pipe_in.get(), nullptr, room, SPLICE_F_NONBLOCK);
        if (n > 0) room_->piped += static_cast<size_t>(n);
        int there = 0;
        if (n >= 0 || errno != EAGAIN || ioctl(fd_.get(), FIONREAD, &there) != 0 || there == 0) return n;
        splices_ = false; // the pipe is full of small packets
        if (!room_->fetch(got_)) return -1;
    }
    return recv(fd_.get(), target_ + got_, room, MSG_DONTWAIT);
}

int Stream::parse() {
    int taken = 0;
    while (end_ - begin_ >= sizeof(wire::Frame)) {
        wire::Frame frame{};
        std::memcpy(&frame, buffer_.data() + begin_, sizeof frame);
        if (frame.magic != wire::frame_magic || frame.bytes > wire::frame_payload_max) return -1;
        const size_t whole = sizeof frame + frame.bytes;
        if (end_ - begin_ >= whole) {
            const size_t at = std::exchange(begin_, begin_ + whole);
            after_long_ = whole > longest_in_buffer;
            user_.frame(user_.subject, {buffer_.data() + at, whole}, {}, nullptr);
            ++taken;
        } else {
            if (whole > longest_in_buffer && !begin_long(frame, whole)) return -1;
            break;
        }
    }
    if (begin_ != 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    return taken;
}

// With what has come of it. False: this is no frame.
bool Stream::begin_long(const wire::Frame& frame, size_t whole) {
    const std::span come(buffer_.data() + begin_, end_ - begin_);
    const size_t head = head_bytes(frame, come);
    if (head == 0 || head > come.size()) return true;
    if (head >= whole) return false;
    head_.assign(come.begin(), come.begin() + static_cast<ptrdiff_t>(head));
    wanted_ = whole - head;
    got_ = come.size() - head;
    target_ = user_.place != nullptr ? user_.place(user_.subject, head_, wanted_) : nullptr;
    unwanted_ = false;
    if (target_ == nullptr) {
        room_ = rooms_.take();
        target_ = room_->bytes;
    }
    std::memcpy(target_, come.data() + head, got_);
    splices_ =
        user_.only_passes_on && room_ != nullptr && wanted_ - got_ >= least_piped && rooms_.has_pipe(*room_);
    begin_ = end_;
    after_long_ = true;
    return true;
}

void Stream::finish_long() {
    std::byte* const data = std::exchange(target_, nullptr);
    Room* const room = std::exchange(room_, nullptr);
    const bool kept = !unwanted_ && user_.frame(user_.subject, head_, {data, wanted_}, room);
    if (room != nullptr && !kept) rooms_.give(room);
}

void Stream::withdraw(std::span<const std::byte> memory) {
    if (target_ == nullptr || room_ != nullptr || target_ < memory.data() ||
        target_ >= memory.data() + memory.size())
        return;
    room_ = rooms_.take();
    target_ = room_->bytes;
    unwanted_ = true;
}

ssize_t Stream::send_parts(std::span<const std::byte> head, std::span<const std::byte> data, bool more) {
    iovec parts[3];
    size_t used = 0;
    for (const std::span<const std::byte> part : {std::span<const std::byte>(gathered_), head, data})
        if (!part.empty()) parts[used++] = {const_cast<std::byte*>(part.data()), part.size()};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = used;
    return sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
}

// As much as there is room for. False: the connection is over.
bool Stream::send_piped(Room& room) {
    while (room.piped != 0) {
        const ssize_t n =
            splice(room.pipe_out.get(), nullptr, fd_.get(), nullptr, room.piped, SPLICE_F_NONBLOCK);
        if (n <= 0) return n < 0 && later();
        room.piped -= static_cast<size_t>(n);
    }
    return true;
}

void Stream::keep_rest(size_t sent, std::span<const std::byte> head, std::span<const std::byte> data,
                       void* ticket) {
    Out& out = out_.emplace_back();
    out.ticket = ticket;
    const bool copies = ticket == nullptr;
    for (const std::span<const std::byte> part : {std::span<const std::byte>(gathered_), head, data}) {
        const std::span<const std::byte> rest = part.subspan(std::min(sent, part.size()));
        sent -= part.size() - rest.size();
        if (part.data() == data.data() && !copies)
            out.data = rest;
        else
            out.bytes.insert(out.bytes.end(), rest.begin(), rest.end());
    }
    gathered_.clear();
}

Posted Stream::send(std::span<const std::byte> head, std::span<const std::byte> data, void* ticket,
                    Room* room) {
    const bool piped = room != nullptr && room->piped != 0;
    if (piped) data = room->in_memory(data);
    const ssize_t n = out_.empty() ? send_parts(head, data, piped) : 0;
    if (n < 0 && !later()) return Posted::failed;
    const size_t sent = n < 0 ? 0 : static_cast<size_t>(n);
    const bool all = sent == gathered_.size() + head.size() + data.size();
    if (all && piped && !send_piped(*room)) return Posted::failed;
    if (all && (!piped || room->piped == 0)) {
        gathered_.clear();
        return Posted::done;
    }
    const bool keeps_memory = piped || (data.size() > longest_copied && ticket != nullptr);
    keep_rest(sent, head, data, keeps_memory ? ticket : nullptr);
    if (piped) out_.back().room = room;
    return keeps_memory ? Posted::under_way : Posted::done;
}

void Stream::gather(std::span<const std::byte> head, std::span<const std::byte> data) {
    gathered_.insert(gathered_.end(), head.begin(), head.end());
    gathered_.insert(gathered_.end(), data.begin(), data.end());
}

bool Stream::flush() { return gathered_.empty() || send({}, {}, nullptr) != Posted::failed; }

// Up to the first that has a pipe.
ssize_t Stream::write_parts() {
    constexpr size_t most_parts = 32;
    iovec parts[most_parts];
    size_t used = 0;
    size_t skip = out_done_;
    bool more = false;
    for (size_t i = 0; i < out_.size() && used + 2 <= most_parts && !more; ++i) {
        for (const std::span<const std::byte> part :
             {std::span<const std::byte>(out_[i].bytes), out_[i].data}) {
            const size_t cut = std::min(skip, part.size());
            skip -= cut;
            if (cut == part.size()) continue;
            parts[used++] = {const_cast<std::byte*>(part.data() + cut), part.size() - cut};
        }
        more = out_[i].piped() != 0;
    }
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = used;
    return sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
}

bool Stream::write() {
    while (!out_.empty()) {
        if (out_done_ < out_.front().in_memory()) {
            const ssize_t n = write_parts();
            if (n < 0) return later();
            out_done_ += static_cast<size_t>(n);
        }
        while (!out_.empty() && out_done_ >= out_.front().in_memory()) {
            Out& first = out_.front();
            if (first.piped() != 0 && !send_piped(*first.room)) return false;
            if (first.piped() != 0) return true;
            out_done_ -= first.in_memory();
            void* const ticket = first.ticket;
            out_.pop_front();
            if (ticket != nullptr) user_.left(user_.subject, ticket);
        }
    }
    return true;
}

} // namespace zipmpi::transport::ucx
