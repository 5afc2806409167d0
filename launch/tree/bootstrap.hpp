// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Bootstrap data of a daemon, read from standard input: its node, the secret of the job and its parent's
// addresses. The launch agent carries it and has authenticated the user; no secret is on a command line. The
// version of the parent comes first, so that a daemon of another version can say so.
#pragma once

#include "launch/protocol/frame_socket.hpp"
#include "launch/protocol/handshake.hpp"
#include "launch/protocol/socket_address.hpp"

#include "base/diagnostic.hpp"

namespace zipmpi::launch {

// A daemon and its subtree: nodes in [node, end).
struct NodeRange {
    uint32_t node = 0;
    uint32_t end = 1;
};

struct Bootstrap {
    NodeRange range;
    JobKey secret{};
    std::vector<SocketAddress> parent_addresses;
    std::string job_id;
};

std::string encode(const Bootstrap& b); // length-prefixed
bool read_bootstrap(int fd, int timeout_ms, Bootstrap& out, Diagnostic& why);

// Tries all addresses concurrently; the first authenticated parent is taken. Without a socket on failure.
ParentConnection connect_to_parent(const Bootstrap& b, int timeout_ms, Diagnostic& why);

} // namespace zipmpi::launch
