// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tree/child_daemon.hpp"

#include "os/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr size_t agent_stderr_limit = 2048;

} // namespace

void ChildDaemon::send(ControlFrameType type, std::string_view payload) {
    if (connection)
        connection->send(type, payload);
    else if (!finished)
        backlog += encode(type, payload);
}

void ChildDaemon::connect(os::Fd socket, FrameSocket::Records records) {
    connection.emplace(std::move(socket), std::move(records));
    connection->send_encoded(backlog);
    backlog.clear();
    start.finish();
    connect_deadline = 0;
    last_received = os::now_ns();
}

void ChildDaemon::read_agent_stderr() {
    char buffer[1024];
    const ssize_t n = read(agent_stderr.get(), buffer, sizeof buffer);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return agent_stderr.reset();
    agent_output.append(buffer, static_cast<size_t>(n));
    if (agent_output.size() > agent_stderr_limit)
        agent_output.erase(0, agent_output.size() - agent_stderr_limit);
}

std::string ChildDaemon::take_agent_output() {
    while (agent_stderr) {
        const size_t before = agent_output.size();
        read_agent_stderr();
        if (agent_output.size() == before) break;
    }
    std::string output = agent_output;
    while (!output.empty() && output.back() == '\n') output.pop_back();
    std::replace(output.begin(), output.end(), '\n', ' ');
    return output;
}

} // namespace zipmpi::launch
