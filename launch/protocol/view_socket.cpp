// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/view_socket.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr std::string_view suffix = "/view";
constexpr int backlog = 8;

struct ViewAddress {
    sockaddr_un name{};
    socklen_t bytes = 0;
};

ViewAddress address_of(const std::string& job_id) {
    ViewAddress a;
    a.name.sun_family = AF_UNIX;
    const std::string text = job_id + std::string(suffix);
    const size_t n = std::min(text.size(), sizeof a.name.sun_path - 1);
    std::memcpy(a.name.sun_path + 1, text.data(), n); // a leading zero: the abstract namespace
    a.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + n);
    return a;
}

// Process on the other side; 0 if it is of another user.
pid_t peer_of_same_user(const os::Fd& socket) {
    ucred peer{};
    socklen_t bytes = sizeof peer;
    if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return 0;
    return peer.uid == geteuid() ? peer.pid : 0;
}

} // namespace

os::Fd listen_for_views(const std::string& job_id) {
    os::Fd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const ViewAddress a = address_of(job_id);
    if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&a.name), a.bytes) != 0 ||
        listen(listener.get(), backlog) != 0)
        listener.reset();
    return listener;
}

os::Fd accept_view_client(const os::Fd& listener) {
    os::Fd client(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client && peer_of_same_user(client) == 0) client.reset();
    return client;
}

ViewConnection connect_to_views(const std::string& job_id) {
    ViewConnection c;
    c.socket.reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const ViewAddress a = address_of(job_id);
    if (connect(c.socket.get(), reinterpret_cast<const sockaddr*>(&a.name), a.bytes) == 0)
        c.mpiexec = peer_of_same_user(c.socket);
    if (c.mpiexec == 0) c.socket.reset();
    return c;
}

std::vector<std::string> find_view_sockets() {
    std::vector<std::string> jobs;
    std::ifstream file("/proc/net/unix");
    for (std::string line; std::getline(file, line);) {
        const size_t at = line.rfind(" @");
        if (at == std::string::npos || !line.ends_with(suffix)) continue;
        const std::string id = line.substr(at + 2, line.size() - at - 2 - suffix.size());
        if (id.starts_with("zipmpi-") && std::count(jobs.begin(), jobs.end(), id) == 0) jobs.push_back(id);
    }
    return jobs;
}

} // namespace zipmpi::launch
