// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// PMI-1 and PMI-2 for the ranks and gateways of this node: their sockets, and the way to other nodes.
#pragma once

#include "launch/noded/rank_processes.hpp"
#include "launch/noded/tree_relay.hpp"
#include "launch/pmi/pmi_server.hpp"

#include <memory>

namespace zipmpi::launch {

class PmiService {
  public:
    struct Handlers {
        PmiServer::Abort abort;
        PmiServer::NotifyHandler notify;
        std::function<void(uint32_t client)> gateway_active; // it has sent something
    };
    PmiService(const NodeJob& job, EventLoop& loop, TreeRelay& relay, Handlers handlers);
    // gateways: numbers of those on this node.
    void begin(const RankProcesses& ranks, const std::vector<uint32_t>& gateways);

    // Creates a connection. Returns false with errno on failure.
    static bool make_socket(os::Fd& server_end, os::Fd& client_end);
    void connect(uint32_t client, os::Fd server_end);
    void disconnect(uint32_t client);
    void receive(uint32_t client); // what it has sent
    void deliver(const RoutedMessage& m);
    void fence_done(std::string_view pairs);
    void owner_failed(uint32_t rank);                      // of any node
    [[nodiscard]] PmiServer& server() { return *server_; } // after begin()

  private:
    struct Connection {
        os::Fd socket;
        std::string out; // not yet accepted by its socket
    };
    void serve(uint32_t client);
    void send(uint32_t client, std::string_view bytes);
    PmiServer::RemoteNodes make_remote_nodes();

    const NodeJob& job_;
    EventLoop& loop_;
    TreeRelay& relay_;
    Handlers handlers_;
    EventLoop::Source source_;
    std::vector<Connection> clients_; // the ranks by local index, then the gateways
    std::unique_ptr<PmiServer> server_;
};

} // namespace zipmpi::launch
