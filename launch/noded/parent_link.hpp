// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connection of the daemon to mpiexec, or to the daemon above it in the launch tree. Over TCP both ends send
// heartbeats.
#pragma once

#include "launch/protocol/event_loop.hpp"
#include "launch/protocol/frame_socket.hpp"

#include <functional>

namespace zipmpi::launch {

class ParentLink {
  public:
    enum class Transport { socket_pair, tcp };
    using OnFrame = std::function<void(const ControlFrame& f)>;

    ParentLink(EventLoop& loop, os::Fd socket, Transport transport, OnFrame on_frame);

    void send(ControlFrameType type, std::string_view payload = {}) { socket_.send(type, payload); }
    void send_diagnostic(std::string_view text); // for stderr of mpiexec
    void report_line(const std::string& line);   // the same, as a line of mpiexec
    void flush();                                // writes what the socket accepts
    void update_events();                        // waits for room in the socket while bytes are queued
    [[nodiscard]] size_t queued() const { return socket_.queued(); }
    [[nodiscard]] bool is_disconnected() const { return disconnected_; }

    // Sends heartbeats. A heartbeat timeout of the parent counts as a disconnect.
    void check_heartbeat();
    [[nodiscard]] uint64_t next_time() const { return heartbeat_at_; } // when that is due; 0: never
    void mark_suspended() { suspended_ = true; } // until its next frame: it is being stopped

  private:
    void serve(uint32_t events);

    EventLoop& loop_;
    FrameSocket socket_;
    Transport transport_;
    OnFrame on_frame_;
    EventLoop::Source source_;
    uint64_t last_received_ = 0, heartbeat_at_ = 0;
    bool suspended_ = false, disconnected_ = false;
};

} // namespace zipmpi::launch
