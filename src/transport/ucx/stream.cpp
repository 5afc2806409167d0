// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
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

void Rooms::give(Room* room) {
    std::unique_ptr<Room> owned(room);
    if (free_.size() < most_free_rooms) free_.push_back(std::move(owned));
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
        std::byte* const to = is_long ? target_ + got_ : buffer_.data() + end_;
        const size_t room = is_long       ? wanted_ - got_
                            : after_long_ ? longest_in_buffer
                                          : buffer_.size() - end_;
        const ssize_t n = recv(fd_.get(), to, room, MSG_DONTWAIT);
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

ssize_t Stream::send_parts(std::span<const std::byte> head, std::span<const std::byte> data) {
    iovec parts[3];
    size_t used = 0;
    for (const std::span<const std::byte> part : {std::span<const std::byte>(gathered_), head, data})
        if (!part.empty()) parts[used++] = {const_cast<std::byte*>(part.data()), part.size()};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = used;
    return sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
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

Posted Stream::send(std::span<const std::byte> head, std::span<const std::byte> data, void* ticket) {
    const ssize_t n = out_.empty() ? send_parts(head, data) : 0;
    if (n < 0 && !later()) return Posted::failed;
    const size_t sent = n < 0 ? 0 : static_cast<size_t>(n);
    if (sent == gathered_.size() + head.size() + data.size()) {
        gathered_.clear();
        return Posted::done;
    }
    const bool keeps_memory = data.size() > longest_copied && ticket != nullptr;
    keep_rest(sent, head, data, keeps_memory ? ticket : nullptr);
    return keeps_memory ? Posted::under_way : Posted::done;
}

void Stream::gather(std::span<const std::byte> head, std::span<const std::byte> data) {
    gathered_.insert(gathered_.end(), head.begin(), head.end());
    gathered_.insert(gathered_.end(), data.begin(), data.end());
}

bool Stream::flush() { return gathered_.empty() || send({}, {}, nullptr) != Posted::failed; }

bool Stream::write() {
    constexpr size_t most_parts = 32;
    while (!out_.empty()) {
        iovec parts[most_parts];
        size_t used = 0;
        size_t skip = out_done_;
        for (size_t i = 0; i < out_.size() && used + 2 <= most_parts; ++i)
            for (const std::span<const std::byte> part :
                 {std::span<const std::byte>(out_[i].bytes), out_[i].data}) {
                const size_t cut = std::min(skip, part.size());
                skip -= cut;
                if (cut == part.size()) continue;
                parts[used++] = {const_cast<std::byte*>(part.data() + cut), part.size() - cut};
            }
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = used;
        const ssize_t n = sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0) return later();
        out_done_ += static_cast<size_t>(n);
        while (!out_.empty() && out_done_ >= out_.front().bytes.size() + out_.front().data.size()) {
            out_done_ -= out_.front().bytes.size() + out_.front().data.size();
            void* const ticket = out_.front().ticket;
            out_.pop_front();
            if (ticket != nullptr) user_.left(user_.subject, ticket);
        }
    }
    return true;
}

} // namespace zipmpi::transport::ucx
