// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/frame_socket.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>

namespace zipmpi::launch {
namespace {
constexpr size_t read_at_once = 256U << 10;
}

FrameSocket::FrameSocket(os::Fd socket, Records records)
    : fd_(std::move(socket))
    , records_(std::move(records)) {
    fcntl(fd_.get(), F_SETFL, fcntl(fd_.get(), F_GETFL) | O_NONBLOCK);
}

void FrameSocket::send(ControlFrameType type, std::string_view payload) {
    send_encoded(encode(type, payload));
}

void FrameSocket::send_encoded(std::string_view frames) {
    if (records_ == nullptr)
        out_ += frames;
    else if (!records_->seal(frames, out_))
        write_failed_ = true;
    flush();
}

bool FrameSocket::flush() {
    while (!write_failed_ && queued() > 0) {
        const ssize_t n = ::send(fd_.get(), out_.data() + out_start_, queued(), MSG_NOSIGNAL);
        if (n > 0) {
            out_start_ += static_cast<size_t>(n);
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            write_failed_ = true;
        }
    }
    if (queued() == 0) {
        out_.clear();
        out_start_ = 0;
    } else if (out_start_ > read_at_once) {
        out_.erase(0, out_start_);
        out_start_ = 0;
    }
    return !write_failed_;
}

bool FrameSocket::receive() {
    progressed_ = false;
    static thread_local char buffer[read_at_once];
    for (;;) {
        const ssize_t n = ::recv(fd_.get(), buffer, sizeof buffer, 0);
        if (n > 0) return decode({buffer, static_cast<size_t>(n)});
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return true;
        error_ = n < 0 ? errno : 0;
        return false;
    }
}

void FrameSocket::close() {
    write_failed_ = true;
    shutdown(fd_.get(), SHUT_WR); // what was sent before arrives
}

bool FrameSocket::decode(std::string_view bytes) {
    if (records_ == nullptr) {
        decoder_.feed(bytes);
    } else {
        std::string text;
        altered_ = !records_->open(bytes, text);
        progressed_ = !text.empty();
        decoder_.feed(text);
    }
    return !altered_ && !decoder_.is_malformed();
}

} // namespace zipmpi::launch
