// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/pmi_service.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace zipmpi::launch {
namespace {

constexpr size_t max_queued = size_t{64} << 20; // bytes of replies; a client waits for each reply

} // namespace

PmiService::PmiService(const NodeJob& job, EventLoop& loop, TreeRelay& relay, Handlers handlers)
    : job_(job)
    , loop_(loop)
    , relay_(relay)
    , handlers_(std::move(handlers))
    , source_(loop.add_source([this](uint32_t client, uint32_t) { serve(client); })) {
    relay_.pmi_fence().set_local_exempt([this] { return server_ && server_->node_in_fence(); });
}

void PmiService::begin(const RankProcesses& ranks, const std::vector<uint32_t>& gateways) {
    const StartRequest& request = job_.request();
    PmiServer::PmiJob job{request.job_id,
                          request.world_size,
                          static_cast<uint32_t>(request.gateway_nodes.size()),
                          request.world_size,
                          {},
                          job_.local_ranks(),
                          job_.dense_map().pmi_text()};
    for (const RankProcess& r : ranks) job.app_numbers.push_back(r.app);
    for (const uint32_t number : gateways) {
        job.app_numbers.push_back(0);
        job.world_ranks.push_back(request.world_size + number);
    }
    clients_.resize(job.world_ranks.size());
    server_ = std::make_unique<PmiServer>(
        std::move(job), [this](uint32_t client, std::string_view bytes) { send(client, bytes); },
        handlers_.abort, make_remote_nodes());
    server_->set_notify_handler(handlers_.notify);
}

PmiServer::RemoteNodes PmiService::make_remote_nodes() {
    if (job_.is_single_node()) return {};
    PmiServer::RemoteNodes remote;
    remote.fence = [this](const std::string& pairs) { relay_.pmi_fence().enter(pairs); };
    remote.get = [this](uint32_t owner, const std::string& key) {
        const uint32_t node = job_.node_of(owner);
        if (node == job_.node()) return false;
        relay_.send({RoutedMessage::Kind::get_key, job_.node(), node, key, false, {}});
        return true;
    };
    remote.reply = [this](uint32_t node, const std::string& key, const std::string* value) {
        RoutedMessage reply{RoutedMessage::Kind::key_reply, job_.node(), node, key, value != nullptr, {}};
        if (value != nullptr) reply.value = *value;
        relay_.send(reply);
    };
    remote.absent = [this] { relay_.pmi_fence().forward_if_complete(); };
    return remote;
}

bool PmiService::make_socket(os::Fd& server_end, os::Fd& client_end) {
    int p[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p) != 0) return false;
    server_end.reset(p[0]);
    client_end.reset(p[1]);
    fcntl(p[0], F_SETFL, O_NONBLOCK);
    return true;
}

void PmiService::connect(uint32_t client, os::Fd server_end) {
    clients_[client] = {std::move(server_end), {}};
    loop_.watch(clients_[client].socket.get(), EPOLLIN, source_, client);
}

void PmiService::disconnect(uint32_t client) {
    if (!clients_[client].socket) return;
    loop_.unwatch(clients_[client].socket.get());
    clients_[client].socket.reset();
}

void PmiService::receive(uint32_t client) {
    if (clients_[client].socket) serve(client);
}

void PmiService::serve(uint32_t client) {
    Connection& c = clients_[client];
    char buffer[4096];
    for (;;) {
        const ssize_t n = recv(c.socket.get(), buffer, sizeof buffer, 0);
        if (n > 0) {
            server_->feed(client, {buffer, static_cast<size_t>(n)});
            if (!job_.is_rank(client)) handlers_.gateway_active(client);
            continue;
        }
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) break;
        c.socket.reset(); // all copies of its end are closed
        return;
    }
    send(client, {});
}

void PmiService::send(uint32_t client, std::string_view bytes) {
    Connection& c = clients_[client];
    if (c.out.size() + bytes.size() > max_queued) return disconnect(client); // it does not read its replies
    c.out.append(bytes);
    while (c.socket && !c.out.empty()) {
        const ssize_t n = ::send(c.socket.get(), c.out.data(), c.out.size(), MSG_NOSIGNAL);
        if (n > 0) {
            c.out.erase(0, static_cast<size_t>(n));
        } else if (errno != EINTR) {
            break;
        }
    }
    if (c.socket) loop_.watch(c.socket.get(), c.out.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT, source_, client);
}

void PmiService::deliver(const RoutedMessage& m) {
    if (!server_) return;
    if (m.kind == RoutedMessage::Kind::key_reply) return server_->on_remote_reply(m.key, m.found, m.value);
    server_->on_remote_get(m.from, m.key);
}

void PmiService::owner_failed(uint32_t rank) {
    if (server_) server_->owner_failed(rank);
}

void PmiService::fence_done(std::string_view pairs) {
    if (server_) server_->fence_done(pairs);
}

} // namespace zipmpi::launch
