// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A child of this process in the launch tree: its agent, its connection, and frames that wait for it.
#pragma once

#include "launch/protocol/frame_socket.hpp"
#include "launch/tree/daemon_start.hpp"

#include <optional>
#include <string>
#include <sys/types.h>

namespace zipmpi::launch {

struct ChildDaemon {
    NodeRange range;
    std::string host;
    DaemonStart start; // not of a daemon on this host
    pid_t pid = -1;    // of its agent, or of a daemon on this host
    os::Fd agent_stderr;
    std::string agent_output; // the last bytes of agent_stderr
    std::string backlog;      // frames queued before it connected
    std::optional<FrameSocket> connection;
    bool network = false, finished = false, exempt_from_fence = false;
    uint64_t connect_deadline = 0, last_received = 0;

    [[nodiscard]] bool has_node(uint32_t node) const { return node >= range.node && node < range.end; }
    void send(ControlFrameType type, std::string_view payload);
    void connect(os::Fd socket, FrameSocket::Records records); // authenticated
    void read_agent_stderr();
    std::string take_agent_output(); // all of it, in one line
};

} // namespace zipmpi::launch
