// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The child daemons of this process in the launch tree. Used by mpiexec and by every daemon: starts the
// children through the launch agent, accepts and authenticates their connections, exchanges frames, and
// detects failures and heartbeat timeouts. One epoll descriptor covers everything, so any loop can serve it.
#pragma once

#include "launch/tree/child_acceptor.hpp"
#include "launch/tree/child_daemon.hpp"

#include <functional>

namespace zipmpi::launch {

inline constexpr uint64_t heartbeat_interval_ns = 500'000'000;

// The diagnostic, with its consequence appended.
inline Diagnostic with_outcome(Diagnostic p, const char* outcome) {
    p.what.append("; ").append(outcome);
    return p;
}

enum class ChildFailure { never_connected, lost };

class Subtree {
  public:
    using OnFrame =
        std::function<void(uint32_t child, const ControlFrame& f)>; // also `done`, after the last one
    using OnFailed = std::function<void(uint32_t child, ChildFailure how, const Diagnostic& why)>;

    Subtree(OnFrame on_frame, OnFailed on_failed);
    // Adds a daemon on this host that is already connected.
    void attach(NodeRange range, os::Fd socket, pid_t pid);
    // Starts the daemons of these nodes: at most plan.fanout as children, the others below those.
    bool start_children(const LaunchTree& plan, const JobKey& secret, NodeRange nodes, Diagnostic& why);

    [[nodiscard]] int fd() const { return loop_.fd(); } // readable: call serve()
    void serve();
    void on_time();
    [[nodiscard]] uint64_t next_time() const; // when on_time() is due; 0: never
    void on_reaped(pid_t pid, int status);    // pid: an agent, or an unrelated child

    void send_start(const StartRequest& request); // to each child, for its subtree
    void send_all(ControlFrameType type, std::string_view payload = {});
    bool send_to_node(uint32_t node, ControlFrameType type,
                      std::string_view payload);        // false if the node is not in this subtree
    [[nodiscard]] bool has_failed(uint32_t node) const; // it was in this subtree
    void pause();                                       // suspends reading from the children
    void resume();
    void close(); // disconnects the children

    [[nodiscard]] uint32_t children() const { return static_cast<uint32_t>(children_.size()); }
    // True for a child that is excluded from fences: it has ended or has no ranks.
    [[nodiscard]] bool exempt_from_fence(uint32_t child) const {
        return children_[child].finished || children_[child].exempt_from_fence;
    }
    [[nodiscard]] const ChildDaemon& child(uint32_t child) const { return children_[child]; }
    [[nodiscard]] bool all_finished() const;
    [[nodiscard]] std::vector<pid_t> pids() const; // of running agents and attached daemons

  private:
    bool start_child(uint32_t child, Diagnostic& why);
    void update_events(uint32_t child);
    void update_all_events();
    void restart_heartbeat_timeouts();
    void on_connected(ChildAcceptor::Authenticated connected);
    void on_child(uint32_t index, uint32_t events);
    void close_child(uint32_t child);
    void fail_child(uint32_t child, const Diagnostic& why);
    void fail_start(uint32_t child, const std::string& why);
    void stop_accepting_when_complete();

    OnFrame on_frame_;
    OnFailed on_failed_;
    EventLoop loop_;
    EventLoop::Source child_source_, agent_source_;
    ChildAcceptor acceptor_;
    std::vector<ChildDaemon> children_;
    bool paused_ = false, network_ = false;
    uint64_t heartbeat_at_ = 0;
};

} // namespace zipmpi::launch
