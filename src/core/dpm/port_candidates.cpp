// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/dpm/port_candidates.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <utility>

namespace zipmpi::core {

bool is_authentic_hello(const transport::stream::Hello& hello, const std::string& secret) {
    return transport::stream::is_hello(hello) && hello.key == transport::stream::key_id(secret) &&
           transport::stream::is_authentic(hello, secret);
}

bool PortCandidates::has_capacity() const {
    return all_.size() < max_candidates || !std::ranges::all_of(all_, &Candidate::authentic);
}

void PortCandidates::add(os::Fd fd, uint64_t deadline_ns) {
    if (all_.size() >= max_candidates) {
        const auto oldest = std::ranges::find(all_, false, &Candidate::authentic);
        if (oldest == all_.end()) return;
        all_.erase(oldest);
    }
    Candidate& c = all_.emplace_back();
    c.fd = std::move(fd);
    c.deadline_ns = deadline_ns;
}

void PortCandidates::add_to(std::vector<pollfd>& fds) const {
    for (const Candidate& c : all_)
        if (!c.authentic) fds.push_back({c.fd.get(), POLLIN, 0});
}

bool PortCandidates::read_one(Candidate& c, const std::string& secret, uint64_t now_ns) {
    if (c.authentic) return true;
    const ssize_t n = ::recv(c.fd.get(), reinterpret_cast<char*>(&c.hello) + c.received,
                             sizeof c.hello - c.received, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (n > 0) c.received += static_cast<size_t>(n);
    if (c.received < sizeof c.hello) return now_ns <= c.deadline_ns;
    c.authentic = is_authentic_hello(c.hello, secret);
    return c.authentic;
}

void PortCandidates::read(const std::string& secret, uint64_t now_ns) {
    std::erase_if(all_, [&](Candidate& c) { return !read_one(c, secret, now_ns); });
}

os::Fd PortCandidates::take(transport::stream::Hello& hello) {
    const auto found = std::ranges::find(all_, true, &Candidate::authentic);
    if (found == all_.end()) return {};
    hello = found->hello;
    os::Fd fd = std::move(found->fd);
    all_.erase(found);
    return fd;
}

} // namespace zipmpi::core
