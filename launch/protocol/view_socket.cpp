// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/view_socket.hpp"

#include "os/socket.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace zipmpi::launch {
namespace {

constexpr std::string_view suffix = "/view";
constexpr int backlog = 8;

std::string name_of(const std::string& job_id) { return job_id + std::string(suffix); }

} // namespace

os::Fd listen_for_views(const std::string& job_id) { return os::listen_abstract(name_of(job_id), backlog); }

os::Fd accept_view_client(const os::Fd& listener) {
    os::PeerIdentity who;
    os::Fd client = os::accept_peer(listener.get(), 0, who);
    return who.uid == geteuid() ? std::move(client) : os::Fd();
}

ViewConnection connect_to_views(const std::string& job_id) {
    os::PeerIdentity who;
    os::Fd socket = os::connect_abstract(name_of(job_id));
    if (!socket || !os::peer_identity(socket.get(), who) || who.uid != geteuid()) return {};
    return {std::move(socket), who.pid};
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
