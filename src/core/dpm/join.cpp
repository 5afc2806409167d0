// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connections without MPI_Open_port: over a socket of the application (MPI_Comm_join), and with the parent
// job.
#include "core/api/comm.hpp"
#include "core/api/process.hpp"
#include "core/dpm/port.hpp"

#include "base/sha256.hpp"
#include "core/runtime_state.hpp"
#include "os/host.hpp"
#include "os/socket.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "transport/stream/process_handshake.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace zipmpi::core {
namespace {

constexpr int reply_timeout_ms = 60'000;

// Determines the initiator and a secret. The socket belongs to the application, so both ends exchange random
// numbers unencrypted.
Err make_secret(int fd, bool& is_initiator, std::string& secret) {
    const std::string own_nonce = transport::stream::random_bytes(transport::stream::key_bytes);
    std::string other(own_nonce.size(), '\0');
    if (!os::write_all(fd, own_nonce.data(), own_nonce.size()) ||
        !os::read_all(fd, other.data(), other.size(), reply_timeout_ms))
        return fail(Err::arg, "pass a connected stream socket whose other end calls MPI_Comm_join too",
                    "descriptor %d: the other end does not reply", fd);
    is_initiator = own_nonce > other;
    secret = std::string(view(sha256(std::max(own_nonce, other) + std::min(own_nonce, other))));
    return Err::success;
}

} // namespace

Err comm_join(int fd, Comm*& result) {
    return connect_groups(
        *runtime()->self, 0,
        [fd](const Contacts& own_contacts, ConnectInfo& connect_info) {
            bool is_initiator = false;
            std::string secret;
            if (const Err e = make_secret(fd, is_initiator, secret); e != Err::success) return e;
            return exchange_over_socket(fd, is_initiator, secret, own_contacts, connect_info);
        },
        result);
}

bool connect_parent(Runtime& e, Diagnostic& why) {
    const char* const port = std::getenv("ZIPMPI_PARENT_PORT");
    if (port == nullptr || *port == '\0' || e.job.protocol != boot::Protocol::mpiexec) return true;
    const std::lock_guard guard(e.progress_engine->engine_lock()); // waiting releases it, so it must be held
    const std::string name = port;
    const Err err = connect_groups(
        *e.world, 0,
        [&name, &e](const Contacts& own_contacts, ConnectInfo& connect_info) {
            return connect_to(name, own_contacts, member_check(*e.world), connect_info);
        },
        e.parent);
    if (err == Err::success) {
        static_cast<void>(comm_set_name(*e.parent, "MPI_COMM_PARENT"));
        return true;
    }
    why = {"a spawned process cannot connect to the parent job that called MPI_Comm_spawn",
           "rank " + std::to_string(e.job.rank) + " of " + std::to_string(e.job.size) + " on host " +
               os::host_name(),
           last_error().why, last_error().fix};
    return false;
}

} // namespace zipmpi::core
