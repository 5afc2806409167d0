// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Serves `zipmpi top --all-hosts`: requests the state of the ranks from all daemons and passes their replies
// on to the clients that have asked. Requests during a round wait for the next one.
#pragma once

#include "launch/mpiexec/host_round.hpp"
#include "launch/protocol/event_loop.hpp"
#include "launch/protocol/frame_socket.hpp"

#include <map>

namespace zipmpi::launch {

class ViewServer {
  public:
    ViewServer(const StartRequest& request, Subtree& subtree);
    void begin();
    [[nodiscard]] int fd() const { return loop_.fd(); } // readable: call serve()
    void serve() { loop_.wait(0); }
    void on_view(std::string_view payload); // payload of a frame
    void on_time(uint64_t now);
    [[nodiscard]] uint64_t next_time() const { return round_.next_time(); }

  private:
    enum class Turn : uint8_t { idle, waiting, served }; // served: in the current round
    struct Client {
        FrameSocket socket;
        Turn turn = Turn::idle;
    };
    void accept_client();
    void on_client(uint32_t number, uint32_t events);
    void update_events(uint32_t number);
    void begin_round();
    void end_round();
    void send(ControlFrameType type, std::string_view payload); // to the clients of the round

    const StartRequest& request_;
    HostRound round_;
    EventLoop loop_;
    EventLoop::Source client_source_;
    os::Fd listener_;
    std::map<uint32_t, Client> clients_; // by number
    uint32_t next_client_ = 0;
};

} // namespace zipmpi::launch
