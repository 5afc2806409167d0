// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/worlds/port.hpp"

#include "base/hex.hpp"
#include "core/state.hpp"
#include "os/clock.hpp"
#include "proto/p2p/lane.hpp"
#include "worlds/handshake.hpp"
#include "worlds/sockets.hpp"

#include <cerrno>
#include <cstring>
#include <map>
#include <poll.h>
#include <sys/socket.h>

namespace zipmpi::core {
namespace {

constexpr uint64_t second_ns = 1'000'000'000;
constexpr uint64_t stranger_ns = 2 * second_ns;
constexpr uint64_t dial_ns = 5 * second_ns;
constexpr uint64_t busy_ns = 60 * second_ns;
constexpr uint64_t no_limit = UINT64_MAX;
constexpr uint32_t most_cards = 1U << 20;
constexpr int look_ms = 2;
const std::string prefix = "zipmpi:";

uint64_t in(uint64_t ns) { return ns == no_limit ? no_limit : os::now_ns() + ns; }

// MPI goes on meanwhile. False: the time is over.
bool wait_for(pollfd* fds, size_t n, uint64_t until) {
    for (;;) {
        lane().progress_all();
        lane().look_for_news();
        lane().step_out();
        const int ready = poll(fds, n, look_ms);
        lane().step_in();
        if (ready > 0) return true;
        if (os::now_ns() >= until) return false;
    }
}

bool wait_for(int fd, short events, uint64_t until) {
    pollfd p{fd, events, 0};
    return wait_for(&p, 1, until);
}

bool write_all(int fd, const void* bytes, size_t n, uint64_t until) {
    const auto* at = static_cast<const char*>(bytes);
    while (n > 0) {
        const ssize_t some = ::send(fd, at, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (some < 0 && errno != EAGAIN && errno != EINTR) return false;
        if (some < 0 && !wait_for(fd, POLLOUT, until)) return false;
        if (some < 0) continue;
        at += some;
        n -= static_cast<size_t>(some);
    }
    return true;
}

bool read_all(int fd, void* bytes, size_t n, uint64_t until) {
    auto* at = static_cast<char*>(bytes);
    while (n > 0) {
        const ssize_t some = ::recv(fd, at, n, MSG_DONTWAIT);
        if (some == 0 || (some < 0 && errno != EAGAIN && errno != EINTR)) return false;
        if (some < 0 && !wait_for(fd, POLLIN, until)) return false;
        if (some < 0) continue;
        at += some;
        n -= static_cast<size_t>(some);
    }
    return true;
}

struct Opening {
    uint32_t cards;
    uint32_t context; // 0: the other side draws it
};

bool say_cards(int fd, const Cards& own, uint32_t context) {
    const Opening o{static_cast<uint32_t>(own.size()), context};
    return write_all(fd, &o, sizeof o, in(busy_ns)) &&
           write_all(fd, own.data(), own.size() * sizeof own[0], in(busy_ns));
}

bool hear_cards(int fd, Deal& deal, uint64_t until) {
    Opening o{};
    if (!read_all(fd, &o, sizeof o, until) || o.cards == 0 || o.cards > most_cards) return false;
    deal.there.resize(o.cards);
    if (o.context != 0) deal.context = o.context;
    return read_all(fd, deal.there.data(), o.cards * sizeof deal.there[0], in(busy_ns));
}

bool answer_dialler(int fd, const std::string& secret, const Cards& own, Deal& deal) {
    worlds::Hello hello{};
    worlds::Proof proof{};
    if (!read_all(fd, &hello, sizeof hello, in(stranger_ns)) || !worlds::is_hello(hello) ||
        hello.key != worlds::number_of(secret) || !worlds::is_proven(hello, secret))
        return false;
    const worlds::Welcome welcome = worlds::make_welcome(hello, secret);
    if (!write_all(fd, &welcome, sizeof welcome, in(stranger_ns)) ||
        !read_all(fd, &proof, sizeof proof, in(busy_ns)) ||
        !worlds::is_proven(hello, welcome, proof, secret) || !hear_cards(fd, deal, in(busy_ns)))
        return false;
    deal.key = worlds::next_key(hello, welcome, secret);
    deal.context = draw_context(static_cast<int>(own.size() + deal.there.size()));
    return say_cards(fd, own, deal.context);
}

bool ask_answerer(int fd, const std::string& secret, const Cards& own, Deal& deal) {
    const worlds::Hello hello = worlds::make_hello(secret, own[0].name, {});
    worlds::Welcome welcome{};
    if (!write_all(fd, &hello, sizeof hello, in(dial_ns)) ||
        !read_all(fd, &welcome, sizeof welcome, no_limit) || // it may take long until it accepts
        !worlds::is_proven(hello, welcome, secret))
        return false;
    const worlds::Proof proof = worlds::make_proof(hello, welcome, secret);
    deal.key = worlds::next_key(hello, welcome, secret);
    return write_all(fd, &proof, sizeof proof, in(busy_ns)) && say_cards(fd, own, 0) &&
           hear_cards(fd, deal, in(busy_ns)) && deal.context != 0;
}

Err no_port(const std::string& name) {
    return fail(Err::port, "pass the name that MPI_Open_port gave in the other program",
                "\"%.40s%s\" is not the name of a port", name.c_str(), name.size() > 40 ? "..." : "");
}

bool read_name(const std::string& name, worlds::Card& card, std::string& secret) {
    const size_t colon = name.rfind(':');
    std::string bytes;
    if (!name.starts_with(prefix) || colon <= prefix.size() ||
        !from_hex(std::string_view(name).substr(prefix.size(), colon - prefix.size()), bytes) ||
        bytes.size() != sizeof card || !from_hex(std::string_view(name).substr(colon + 1), secret) ||
        secret.size() != worlds::key_bytes)
        return false;
    std::memcpy(&card, bytes.data(), sizeof card);
    return card.endpoints <= worlds::Card::most_endpoints;
}

// Connected, or empty.
os::Fd dial_port(const worlds::Card& card, uint32_t way) {
    const uint64_t until = in(busy_ns);
    os::Fd fd;
    while (!(fd = worlds::dial(card, way)) && errno == EAGAIN && os::now_ns() < until) // many callers wait
        static_cast<void>(wait_for(nullptr, 0, in(0)));
    int error = 0;
    socklen_t length = sizeof error;
    if (fd && (!wait_for(fd.get(), POLLOUT, in(dial_ns)) ||
               getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0))
        fd.reset();
    return fd;
}

std::map<std::string, Port>& ports() {
    static auto* const all = new std::map<std::string, Port>; // under the engine lock
    return *all;
}

} // namespace

std::string Port::name() const {
    return prefix + hex_of(&card, sizeof card) + ":" + hex_of(secret.data(), secret.size());
}

Err make_port(Port& port) {
    port.listeners = worlds::listen_everywhere("", port.card);
    port.secret = worlds::random_bytes(worlds::key_bytes);
    if (!port.listeners.empty()) return Err::success;
    return fail(Err::other, "raise the limit of open files (ulimit -n)", "no socket can be listened on: %s",
                std::strerror(errno));
}

Err accept_on(const Port& port, const Cards& own, const GiveUp& give_up, Deal& deal) {
    std::vector<pollfd> fds;
    for (const os::Fd& listener : port.listeners) fds.push_back({listener.get(), POLLIN, 0});
    for (;;) {
        if (!wait_for(fds.data(), fds.size(), in(0))) {
            if (const Err e = give_up(); e != Err::success) return e;
            continue;
        }
        for (const pollfd& p : fds) {
            if (p.revents == 0) continue;
            const os::Fd fd = worlds::answer(p.fd);
            if (fd && answer_dialler(fd.get(), port.secret, own, deal)) return Err::success;
        }
    }
}

Err connect_to(const std::string& port_name, const Cards& own, Deal& deal) {
    worlds::Card card;
    std::string secret;
    if (!read_name(port_name, card, secret)) return no_port(port_name);
    for (uint32_t way = 0; way < worlds::ways_to(card); ++way) {
        const os::Fd fd = dial_port(card, way);
        if (fd && ask_answerer(fd.get(), secret, own, deal)) return Err::success;
    }
    return fail(Err::port,
                "see that the other program still runs and has not closed the port, and that its "
                "host is reached by TCP from here",
                "nobody accepts connections at this port (any more)");
}

Err talk_over(int fd, bool dialled, const std::string& secret, const Cards& own, Deal& deal) {
    const bool done = dialled ? ask_answerer(fd, secret, own, deal) : answer_dialler(fd, secret, own, deal);
    return done ? Err::success
                : fail(Err::other, "pass a connected socket whose other end calls MPI_Comm_join too",
                       "the other end of the socket does not answer as it should");
}

Err open_port(Info* /*info*/, std::string& name) {
    Port port;
    if (const Err e = make_port(port); e != Err::success) return e;
    name = port.name();
    ports().emplace(name, std::move(port));
    return Err::success;
}

Err close_port(const char* name) { return ports().erase(name) != 0 ? Err::success : no_port(name); }

Err comm_accept(const char* port_name, Info* /*info*/, int root, Comm& comm, Comm*& result) {
    return meet(
        comm, root,
        [port_name](const Cards& own, Deal& deal) {
            const auto port = ports().find(port_name);
            if (port == ports().end()) return no_port(port_name);
            return accept_on(
                port->second, own, [] { return Err::success; }, deal);
        },
        result);
}

Err comm_connect(const char* port_name, Info* /*info*/, int root, Comm& comm, Comm*& result) {
    return meet(
        comm, root, [port_name](const Cards& own, Deal& deal) { return connect_to(port_name, own, deal); },
        result);
}

} // namespace zipmpi::core
