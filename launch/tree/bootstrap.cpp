// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tree/bootstrap.hpp"

#include "launch/protocol/crypto.hpp"

#include "base/job_protocol.hpp"
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

constexpr int retry_timeout_ms = 10'000; // while the parent closes connections
constexpr useconds_t pause_us = 20'000;
constexpr std::string_view format_name = "zipmpi-bootstrap"; // then version, which determines the rest
constexpr uint32_t size_limit = 16U << 10;

// One address that is being tried.
struct Attempt {
    os::Fd socket;
    std::optional<HandshakeConnector> handshake;
    std::string out;           // not yet accepted by the socket
    bool has_received = false; // data or end of file
};

bool flush_output(Attempt& a) {
    a.out += a.handshake->take_output();
    while (!a.out.empty()) {
        const ssize_t n = send(a.socket.get(), a.out.data(), a.out.size(), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EAGAIN;
        a.out.erase(0, static_cast<size_t>(n));
    }
    return true;
}

// Returns false if the address is not usable.
bool advance(Attempt& a) {
    char buffer[128];
    while (a.handshake->state() == HandshakeState::in_progress) {
        const ssize_t n =
            recv(a.socket.get(), buffer, std::min(sizeof buffer, a.handshake->bytes_needed()), 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return true;
        a.has_received = a.has_received || n >= 0 || errno == ECONNRESET;
        if (n <= 0) return false;
        a.handshake->feed({buffer, static_cast<size_t>(n)});
        if (!flush_output(a)) return false;
    }
    return a.handshake->state() == HandshakeState::authenticated;
}

std::vector<Attempt> start_attempts(const Bootstrap& b, const Crypto& crypto) {
    std::vector<Attempt> attempts;
    JobKey key = derive_key(b.secret, KeyPurpose::control);
    for (const SocketAddress& e : b.parent_addresses) {
        Nonce nonce;
        if (!os::fill_random(nonce.data(), nonce.size())) continue;
        os::Fd s = begin_connect(e);
        Handshake::Exchange exchange = s ? crypto.new_exchange() : nullptr;
        if (exchange == nullptr) continue;
        Attempt& a = attempts.emplace_back();
        a.socket = std::move(s);
        a.handshake.emplace(key, nonce, std::move(exchange), b.range.node);
    }
    wipe(key);
    return attempts;
}

// Index of the first authenticated attempt, or -1 if none is left or the time is over.
int first_authenticated(std::vector<Attempt>& attempts, int timeout_ms) {
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
            if (!advance(attempts[i]))
                attempts[i].socket.reset();
            else if (attempts[i].handshake->state() == HandshakeState::authenticated)
                return static_cast<int>(i);
        }
    }
}

} // namespace

std::string encode(const Bootstrap& b) {
    PayloadWriter w;
    w.text(format_name).text(job_protocol_text()).u32(b.range.node).u32(b.range.end);
    encode(w, b.parent_addresses);
    const std::string rest = w.text(b.job_id).take();
    // One allocation, so that no copy of the secret is left in freed memory.
    const auto bytes = static_cast<uint32_t>(b.secret.size() + rest.size());
    std::string whole;
    whole.reserve(sizeof bytes + bytes);
    whole.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    whole.append(reinterpret_cast<const char*>(b.secret.data()), b.secret.size());
    return whole.append(rest);
}

bool read_bootstrap(int fd, int timeout_ms, Bootstrap& out, Diagnostic& why) {
    why = {"zipmpi-noded is not a command for users", "",
           "its standard input has no bootstrap data of mpiexec",
           "use mpiexec; install the same ZipMPI on all hosts"};
    uint32_t size = 0;
    if (!os::read_all(fd, &size, sizeof size, timeout_ms) || size > size_limit) return false;
    std::string bytes(size, '\0');
    if (!os::read_all(fd, bytes.data(), size, timeout_ms)) return false;
    if (bytes.size() < out.secret.size()) return false;
    std::memcpy(out.secret.data(), bytes.data(), out.secret.size());
    explicit_bzero(bytes.data(), out.secret.size());
    PayloadReader r(std::string_view(bytes).substr(out.secret.size()));
    if (r.text() != format_name) return false;
    if (const std::string parent = r.text(); !is_same_job_protocol(parent, job_protocol_text())) {
        why = {"the hosts of this job have different versions of ZipMPI", "host " + os::host_name(),
               job_protocol_reason("mpiexec", parent), job_protocol_fix};
        return false;
    }
    out.range.node = r.u32();
    out.range.end = r.u32();
    const bool listed = decode(r, out.parent_addresses);
    out.job_id = r.text();
    return listed && r.is_finished() && out.job_id.find('/') == std::string::npos &&
           out.range.node < out.range.end;
}

ParentConnection connect_to_parent(const Bootstrap& b, int timeout_ms, Diagnostic& why) {
    std::string reason;
    const Crypto* const crypto = os::load_crypto(reason);
    if (crypto == nullptr) {
        why = no_crypto(reason);
        return {};
    }
    const uint64_t until =
        os::now_ns() + static_cast<uint64_t>(std::min(timeout_ms, retry_timeout_ms)) * 1'000'000;
    for (bool again = true; again;) {
        std::vector<Attempt> attempts = start_attempts(b, *crypto);
        const int found = first_authenticated(attempts, timeout_ms);
        if (found >= 0) {
            Attempt& a = attempts[static_cast<size_t>(found)];
            tune_socket(a.socket.get());
            return {std::move(a.socket),
                    std::make_unique<RecordChannel>(*crypto, a.handshake->record_keys())};
        }
        // A parent that closed the connection may have had too many unauthenticated connections.
        const auto heard = [](const Attempt& a) { return a.has_received; };
        again = os::now_ns() < until && std::any_of(attempts.begin(), attempts.end(), heard);
        if (again) usleep(pause_us);
    }
    std::string tried;
    for (const SocketAddress& e : b.parent_addresses) tried += (tried.empty() ? "" : ", ") + to_text(e);
    why = {"the daemon cannot reach the process that started it", "host " + os::host_name(),
           "no process of this job responds at these addresses: " + tried,
           "allow TCP connections between the hosts of the job in the firewall, or set the interface that "
           "connects them: mpiexec --launch-interface eth0"};
    return {};
}

} // namespace zipmpi::launch
