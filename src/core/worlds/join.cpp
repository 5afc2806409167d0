// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Meetings without a port of the program's: over a socket that it has made, and with the parents.
#include "core/worlds/port.hpp"

#include "base/sha256.hpp"
#include "core/state.hpp"
#include "os/host.hpp"
#include "os/socket.hpp"
#include "proto/p2p/lane.hpp"
#include "worlds/handshake.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace zipmpi::core {
namespace {

constexpr int answer_ms = 60'000;

// Who dials, and with which secret: the socket is the program's, so both ends may make one up in the open.
Err make_secret(int fd, bool& dials, std::string& secret) {
    const std::string own = worlds::random_bytes(worlds::key_bytes);
    std::string other(own.size(), '\0');
    if (!os::write_all(fd, own.data(), own.size()) ||
        !os::read_all(fd, other.data(), other.size(), answer_ms))
        return fail(Err::arg, "pass a connected stream socket whose other end calls MPI_Comm_join too",
                    "descriptor %d: the other end does not answer", fd);
    dials = own > other;
    secret = std::string(view(sha256(std::max(own, other) + std::min(own, other))));
    return Err::success;
}

} // namespace

Err comm_join(int fd, Comm*& result) {
    return meet(
        *engine()->self, 0,
        [fd](const Cards& own, Deal& deal) {
            bool dials = false;
            std::string secret;
            if (const Err e = make_secret(fd, dials, secret); e != Err::success) return e;
            return talk_over(fd, dials, secret, own, deal);
        },
        result);
}

bool meet_parents(Engine& e, Problem& why) {
    const char* const port = std::getenv("ZIPMPI_PARENT_PORT");
    if (port == nullptr || *port == '\0' || e.job.protocol != boot::Protocol::mpiexec) return true;
    const std::lock_guard guard(*e.lane); // waiting gives it up, so it must be held
    const std::string name = port;
    const Err err = meet(
        *e.world, 0, [&name](const Cards& own, Deal& deal) { return connect_to(name, own, deal); }, e.parent);
    if (err == Err::success) {
        static_cast<void>(comm_set_name(*e.parent, "MPI_COMM_PARENT"));
        return true;
    }
    why = {"a process that MPI_Comm_spawn has started does not find those who called it",
           "rank " + std::to_string(e.job.rank) + " of " + std::to_string(e.job.size) + " on host " +
               os::host_name(),
           last_error().why, last_error().todo};
    return false;
}

} // namespace zipmpi::core
