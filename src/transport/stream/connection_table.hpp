// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All connections of a network over streams, and the epoll set that watches them.
#pragma once

#include "transport/stream/connection.hpp"

#include <map>
#include <memory>

namespace zipmpi::transport::stream {

class ConnectionTable {
  public:
    using Connections = std::map<uint64_t, std::unique_ptr<Connection>>;

    ConnectionTable();
    [[nodiscard]] int descriptor() const { return epoll_.get(); } // -1: cannot be used

    Connection& add(os::Fd fd, Connection::State state, uint64_t deadline_ns);
    [[nodiscard]] Connection* find(uint64_t number) const; // null: removed
    [[nodiscard]] Connections& all() { return connections_; }
    [[nodiscard]] const Connections& all() const { return connections_; }

    // Events of the descriptor have this key. Those of connections have their number.
    [[nodiscard]] bool watch_descriptor(int fd, uint64_t key);
    [[nodiscard]] bool start_watching(Connection& c);
    void update_watch(Connection& c); // after a change of its state or its queue

    // Connections are removed later, when no caller uses them.
    void mark_broken(Connection& c) {
        c.condition = Connection::Condition::broken;
        needs_sweep_ = true;
    }
    void request_sweep() { needs_sweep_ = true; }
    void end_sweep() { needs_sweep_ = false; }
    [[nodiscard]] bool needs_sweep() const { return needs_sweep_; }

    // What happened since progress() started.
    void begin_poll() {
        events_ = 0;
        ++poll_id_;
    }
    void count_event() { ++events_; }
    [[nodiscard]] int events() const { return events_; }
    [[nodiscard]] uint32_t poll_id() const { return poll_id_; }
    // Connections whose sockets accept no more bytes.
    [[nodiscard]] bool has_blocked() const { return blocked_ != 0; }
    void forget_blocked(Connection& c); // before it is removed or dials again

  private:
    bool control(Connection& c, int operation);

    os::Fd epoll_;
    Connections connections_;
    uint64_t next_number_ = 1;
    bool needs_sweep_ = false;
    int events_ = 0;
    uint32_t poll_id_ = 1;
    size_t blocked_ = 0;
};

} // namespace zipmpi::transport::stream
