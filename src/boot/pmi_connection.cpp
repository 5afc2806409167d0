// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi_connection.hpp"

#include "boot/environment.hpp"
#include "os/clock.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace zipmpi::boot {
namespace {

constexpr size_t length_digits = 6;
constexpr size_t longest_command = 32768;
constexpr int send_limit_ms = 60'000;

bool wait_for(int fd, short events, int limit_ms) {
    pollfd p{fd, events, 0};
    int rc = 0;
    do {
        rc = poll(&p, 1, limit_ms);
    } while (rc < 0 && errno == EINTR);
    return rc > 0;
}

int milliseconds_until(uint64_t deadline_ns) {
    if (deadline_ns == 0) return -1;
    const uint64_t now = os::now_ns();
    return now >= deadline_ns ? 0 : static_cast<int>((deadline_ns - now) / 1'000'000 + 1);
}

// Start of a received text with control characters replaced, for messages.
std::string printable(std::string_view text) {
    std::string s;
    for (const char c : text.substr(0, 60)) s += c >= ' ' && c <= '~' ? c : '?';
    return s;
}

} // namespace

bool field(std::string_view text, char separator, std::string_view name, std::string& value) {
    while (!text.empty()) {
        const size_t end = text.find(separator);
        const std::string_view one = text.substr(0, end);
        if (one.size() > name.size() && one[name.size()] == '=' && one.starts_with(name)) {
            value.assign(one.substr(name.size() + 1));
            return true;
        }
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return false;
}

bool PmiConnection::fail(std::string why) {
    failure_ = std::move(why);
    return false;
}

bool PmiConnection::send(std::string_view command) {
    if (command.size() > longest_command || command.find('\n') != std::string_view::npos)
        return fail("a command to the launcher is too long or has invalid characters");
    std::string bytes(command);
    if (framing_ == Framing::lines) {
        bytes += '\n';
    } else {
        char head[16];
        std::snprintf(head, sizeof head, "%6zu", command.size());
        bytes.insert(0, head, length_digits);
    }
    std::string_view rest(bytes);
    while (!rest.empty()) {
        const ssize_t n = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            rest.remove_prefix(static_cast<size_t>(n));
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_for(fd_, POLLOUT, send_limit_ms))
                return fail("the launcher does not read from the connection");
        } else if (errno != EINTR) {
            return fail(std::string("writing to the launcher failed: ") + std::strerror(errno));
        }
    }
    return true;
}

bool PmiConnection::fill(uint64_t deadline_ns) {
    for (;;) {
        if (!wait_for(fd_, POLLIN, milliseconds_until(deadline_ns)))
            return fail("the launcher did not reply in time");
        char bytes[4096];
        const ssize_t n = recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n > 0) {
            received_.append(bytes, static_cast<size_t>(n));
            return true;
        }
        if (n == 0) return fail("the launcher closed the connection");
        if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
            return fail(std::string("reading from the launcher failed: ") + std::strerror(errno));
    }
}

bool PmiConnection::take_line(uint64_t deadline_ns) {
    size_t end = 0;
    while ((end = received_.find('\n')) == std::string::npos) {
        if (received_.size() > max_reply_bytes) return fail("the launcher sent an unterminated line");
        if (!fill(deadline_ns)) return false;
    }
    reply_ = received_.substr(0, end);
    received_.erase(0, end + 1);
    return true;
}

bool PmiConnection::take_frame(uint64_t deadline_ns) {
    while (received_.size() < length_digits)
        if (!fill(deadline_ns)) return false;
    std::string_view head = std::string_view(received_).substr(0, length_digits);
    while (!head.empty() && head.front() == ' ') head.remove_prefix(1);
    while (!head.empty() && head.back() == ' ') head.remove_suffix(1);
    const auto length = whole_number(head);
    if (!length || static_cast<size_t>(*length) > max_reply_bytes)
        return fail("the launcher sent \"" + printable(received_) + "\", which is not a PMI-2 message");
    const size_t end = length_digits + static_cast<size_t>(*length);
    while (received_.size() < end)
        if (!fill(deadline_ns)) return false;
    reply_ = received_.substr(length_digits, end - length_digits);
    received_.erase(0, end);
    return true;
}

bool PmiConnection::request(std::string_view command, std::string_view reply_name, int limit_ms) {
    const uint64_t deadline =
        limit_ms == no_limit ? 0 : os::now_ns() + static_cast<uint64_t>(limit_ms) * 1'000'000;
    reply_.clear();
    if (!send(command)) return false;
    if (!(framing_ == Framing::lines ? take_line(deadline) : take_frame(deadline))) return false;
    if (!reply_field_is("cmd", reply_name))
        return fail("the launcher replied \"" + printable(reply_) + "\" instead of " +
                    std::string(reply_name));
    return true;
}

} // namespace zipmpi::boot
