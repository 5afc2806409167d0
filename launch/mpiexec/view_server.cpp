// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/view_server.hpp"

#include "launch/protocol/view_socket.hpp"

#include "os/clock.hpp"

#include <sys/epoll.h>

namespace zipmpi::launch {
namespace {

constexpr size_t most_clients = 8;
constexpr uint64_t time_to_reply = 2'000'000'000;

} // namespace

ViewServer::ViewServer(const StartRequest& request, Subtree& subtree)
    : request_(request)
    , round_(request, subtree)
    , client_source_(
          loop_.add_source([this](uint32_t number, uint32_t events) { on_client(number, events); })) {}

// Without the socket, the job runs and top finds no job.
void ViewServer::begin() {
    listener_ = listen_for_views(request_.job_id);
    if (listener_)
        loop_.watch(listener_.get(), EPOLLIN,
                    loop_.add_source([this](uint32_t, uint32_t) { accept_client(); }));
}

void ViewServer::accept_client() {
    os::Fd client = accept_view_client(listener_);
    if (!client || clients_.size() >= most_clients) return;
    const uint32_t number = next_client_++;
    clients_.emplace(number, Client{FrameSocket(std::move(client), nullptr)});
    update_events(number);
}

void ViewServer::update_events(uint32_t number) {
    const FrameSocket& socket = clients_.at(number).socket;
    loop_.watch(socket.fd(), socket.queued() > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN, client_source_, number);
}

void ViewServer::on_client(uint32_t number, uint32_t /*events*/) {
    const auto it = clients_.find(number);
    if (it == clients_.end()) return;
    Client& client = it->second;
    if (!client.socket.receive() || !client.socket.flush()) {
        loop_.unwatch(client.socket.fd());
        clients_.erase(it);
        return;
    }
    update_events(number);
    for (ControlFrame f; client.socket.next(f);)
        if (f.type == ControlFrameType::request_view && client.turn == Turn::idle &&
            client.socket.queued() == 0)
            client.turn = Turn::waiting;
    if (!round_.is_pending() && client.turn == Turn::waiting) begin_round();
}

void ViewServer::begin_round() {
    for (auto& [number, client] : clients_)
        if (client.turn == Turn::waiting) client.turn = Turn::served;
    round_.begin(ControlFrameType::request_view, os::now_ns() + time_to_reply);
}

void ViewServer::on_view(std::string_view payload) {
    PayloadReader r(payload);
    const std::optional<uint32_t> node = round_.read_reply(r);
    if (!node) return;
    send(ControlFrameType::view, payload);
    if (round_.add_reply(*node)) end_round();
}

void ViewServer::send(ControlFrameType type, std::string_view payload) {
    for (auto& [number, client] : clients_) {
        if (client.turn != Turn::served) continue;
        client.socket.send(type, payload);
        update_events(number);
    }
}

void ViewServer::end_round() {
    round_.end();
    PayloadWriter w;
    send(ControlFrameType::view_end, w.numbers(round_.awaited()).take());
    bool more = false;
    for (auto& [number, client] : clients_) {
        if (client.turn == Turn::served) client.turn = Turn::idle;
        more = more || client.turn == Turn::waiting;
    }
    if (more) begin_round();
}

void ViewServer::on_time(uint64_t now) {
    if (round_.is_due(now)) end_round();
}

} // namespace zipmpi::launch
