// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tree/bootstrap.hpp"

#include "os/clock.hpp"
#include "os/host.hpp"
#include "os/random.hpp"
#include "os/socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr int patience_ms = 10'000; // with a parent that closes connections
constexpr useconds_t pause_us = 20'000;
constexpr std::string_view format_name = "zipmpi-bootstrap-1";
constexpr uint32_t size_limit = 16U << 10;

// One address that is being tried.
struct Attempt {
    os::Fd socket;
    std::optional<HelloConnector> hello;
    std::string out;        // what the socket did not take yet
    bool was_heard = false; // something, or the end, came from there
};

bool write_out(Attempt& a) {
    a.out += a.hello->take_output();
    while (!a.out.empty()) {
        const ssize_t n = send(a.socket.get(), a.out.data(), a.out.size(), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EAGAIN;
        a.out.erase(0, static_cast<size_t>(n));
    }
    return true;
}

// False: this address is none.
bool go_on(Attempt& a) {
    char buffer[128];
    while (a.hello->state() == HelloState::going_on) {
        const ssize_t n = recv(a.socket.get(), buffer, std::min(sizeof buffer, a.hello->wanted()), 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return true;
        a.was_heard = a.was_heard || n >= 0 || errno == ECONNRESET;
        if (n <= 0) return false;
        a.hello->feed({buffer, static_cast<size_t>(n)});
        if (!write_out(a)) return false;
    }
    return a.hello->state() == HelloState::proven;
}

std::vector<Attempt> begin_all(const Bootstrap& b) {
    std::vector<Attempt> attempts;
    for (const Endpoint& e : b.parent) {
        Nonce nonce;
        if (!os::fill_random(nonce.data(), nonce.size())) continue;
        os::Fd s = begin_connect(e);
        if (s) attempts.push_back({std::move(s), HelloConnector(b.key, nonce, b.place.node), {}, false});
    }
    return attempts;
}

// The index of the attempt that has been proven, or -1 if none is left or the time is over.
int first_proven(std::vector<Attempt>& attempts, int timeout_ms) {
    const uint64_t until = os::now_ns() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
    for (;;) {
        std::vector<pollfd> polls;
        bool any = false;
        for (const Attempt& a : attempts) {
            polls.push_back({a.socket.get(), POLLIN, 0});
            any = any || a.socket;
        }
        const uint64_t now = os::now_ns();
        if (!any || now >= until) return -1;
        poll(polls.data(), polls.size(), static_cast<int>((until - now) / 1'000'000 + 1));
        for (size_t i = 0; i < attempts.size(); ++i) {
            if (!attempts[i].socket || polls[i].revents == 0) continue;
            if (!go_on(attempts[i]))
                attempts[i].socket.reset();
            else if (attempts[i].hello->state() == HelloState::proven)
                return static_cast<int>(i);
        }
    }
}

} // namespace

std::string encode(const Bootstrap& b) {
    Writer w;
    w.text(format_name).u32(b.place.node).u32(b.place.end);
    w.text({reinterpret_cast<const char*>(b.key.data()), b.key.size()});
    encode(w, b.parent);
    w.text(b.job_id);
    Writer whole;
    return whole.text(w.take()).take();
}

bool read_bootstrap(int fd, int timeout_ms, Bootstrap& out) {
    uint32_t size = 0;
    if (!os::read_all(fd, &size, sizeof size, timeout_ms) || size > size_limit) return false;
    std::string bytes(size, '\0');
    if (!os::read_all(fd, bytes.data(), size, timeout_ms)) return false;
    Reader r(bytes);
    const bool known = r.text() == format_name;
    out.place.node = r.u32();
    out.place.end = r.u32();
    const std::string key = r.text();
    const bool listed = decode(r, out.parent);
    out.job_id = r.text();
    if (!known || !listed || !r.finished() || out.job_id.find('/') != std::string::npos ||
        key.size() != out.key.size())
        return false;
    std::memcpy(out.key.data(), key.data(), key.size());
    explicit_bzero(bytes.data(), bytes.size());
    return out.place.node < out.place.end;
}

os::Fd connect_to_parent(const Bootstrap& b, int timeout_ms, Problem& why) {
    const uint64_t until =
        os::now_ns() + static_cast<uint64_t>(std::min(timeout_ms, patience_ms)) * 1'000'000;
    for (bool again = true; again;) {
        std::vector<Attempt> attempts = begin_all(b);
        const int found = first_proven(attempts, timeout_ms);
        if (found >= 0) {
            os::Fd s = std::move(attempts[static_cast<size_t>(found)].socket);
            tune(s.get());
            return s;
        }
        // Who has answered and closed may have had too many strangers at its door.
        const auto heard = [](const Attempt& a) { return a.was_heard; };
        again = os::now_ns() < until && std::any_of(attempts.begin(), attempts.end(), heard);
        if (again) usleep(pause_us);
    }
    std::string tried;
    for (const Endpoint& e : b.parent) tried += (tried.empty() ? "" : ", ") + shown(e);
    why = {"the daemon cannot reach the process that started it", "host " + os::host_name(),
           "none of these addresses answers as a process of this job: " + tried,
           "let TCP connections between the hosts of a job through the firewall, or name the interface that "
           "connects them: mpiexec --launch-interface eth0"};
    return {};
}

} // namespace zipmpi::launch
