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
    using OnFrame = std::function<void(const ControlFrame& f)>;

    ParentLink(EventLoop& loop, ParentConnection connection, OnFrame on_frame);

    // Nothing after a disconnect: a parent whose frames were cut must not take `done` for the end of the job.
    void send(ControlFrameType type, std::string_view payload = {}) {
        if (!disconnected_) socket_.send(type, payload);
    }
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
    enum class Transport { socket_pair, tcp };
    void serve(uint32_t events);
    void report_alteration();

    EventLoop& loop_;
    Transport transport_;
    FrameSocket socket_;
    OnFrame on_frame_;
    EventLoop::Source source_;
    uint64_t last_received_ = 0, heartbeat_at_ = 0;
    bool suspended_ = false, disconnected_ = false;
};

} // namespace zipmpi::launch
