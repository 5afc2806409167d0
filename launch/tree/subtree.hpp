// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The child daemons of this process in the launch tree. Used by mpiexec and by every daemon: starts the
// children through the launch agent, accepts and authenticates their connections, exchanges frames, and
// detects failures and heartbeat timeouts. One epoll descriptor covers everything, so any loop can serve it.
#pragma once

#include "launch/protocol/frame_socket.hpp"
#include "launch/protocol/messages.hpp"
#include "launch/tree/bootstrap.hpp"

#include <functional>
#include <optional>
#include <sys/types.h>

namespace zipmpi::launch {

inline constexpr uint64_t heartbeat_interval_ns = 500'000'000;

// The diagnostic, with its consequence appended.
inline Diagnostic with_outcome(Diagnostic p, const char* outcome) {
    p.what.append("; ").append(outcome);
    return p;
}

class Subtree {
  public:
    using OnFrame =
        std::function<void(uint32_t child, const ControlFrame& f)>; // also `done`, after the last one
    // was_connected: false if it never connected
    using OnFailed = std::function<void(uint32_t child, bool was_connected, const Diagnostic& why)>;

    Subtree(OnFrame on_frame, OnFailed on_failed);
    // Adds a daemon on this host that is already connected.
    void attach(NodeRange range, os::Fd socket, pid_t pid);
    // Starts the daemons of these nodes: at most plan.fanout as children, the others below those.
    bool start_children(const LaunchTree& plan, const JobKey& key, NodeRange nodes, Diagnostic& why);

    [[nodiscard]] int fd() const { return epoll_.get(); } // readable: call serve()
    void serve();
    void on_time();
    [[nodiscard]] uint64_t next_time() const; // when on_time() is due; 0: never
    void on_reaped(pid_t pid, int status);    // pid: an agent, or an unrelated child

    void send_all(ControlFrameType type, std::string_view payload = {});
    bool send_to_node(uint32_t node, ControlFrameType type,
                      std::string_view payload);        // false if the node is not in this subtree
    [[nodiscard]] bool has_failed(uint32_t node) const; // it was in this subtree
    void pause(bool paused);                            // suspends reading from the children
    void close();                                       // disconnects the children

    [[nodiscard]] uint32_t children() const { return static_cast<uint32_t>(children_.size()); }
    [[nodiscard]] bool is_finished(uint32_t child) const { return children_[child].finished; }
    // True for a child that is excluded from fences: it has ended or has no ranks.
    [[nodiscard]] bool exempt_from_fence(uint32_t child) const {
        return children_[child].finished || children_[child].exempt_from_fence;
    }
    void mark_exempt_from_fence(const std::function<bool(NodeRange)>& has_ranks);
    [[nodiscard]] NodeRange range(uint32_t child) const { return children_[child].range; }
    [[nodiscard]] const std::string& host(uint32_t child) const { return children_[child].host; }
    [[nodiscard]] bool all_finished() const;
    [[nodiscard]] std::vector<pid_t> pids() const; // of running agents and attached daemons

  private:
    struct Child {
        NodeRange range;
        std::string host;
        pid_t pid = -1;
        os::Fd agent_stderr;
        std::string agent_output; // the last bytes of agent_stderr
        std::string backlog;      // frames queued before it connected
        std::optional<FrameSocket> connection;
        bool network = false, finished = false, exempt_from_fence = false;
        uint64_t connect_deadline = 0, last_received = 0;
    };
    struct PendingChild {
        os::Fd socket;
        std::optional<HandshakeAcceptor> handshake;
        uint64_t deadline = 0;
    };
    enum class Source : uint32_t { listener, pending_child, child, agent_stderr };

    bool listen(const LaunchTree& plan, Diagnostic& why);
    bool start_child(const LaunchTree& plan, const JobKey& key, Child& child, Diagnostic& why);
    void watch(int fd, uint32_t events, Source source, uint32_t index);
    void update_events(uint32_t child);
    void on_listener(uint32_t listener);
    void on_pending_child(uint32_t index);
    void accept_child(PendingChild& s);
    void on_child(uint32_t index, uint32_t events);
    void on_agent_stderr(Child& c);
    void send(Child& c, ControlFrameType type, std::string_view payload);
    void close_child(uint32_t child);
    void fail_child(uint32_t child, const std::string& why, const std::string& fix);
    void fail_start(uint32_t child, const std::string& why);
    void stop_listening_when_complete();

    OnFrame on_frame_;
    OnFailed on_failed_;
    os::Fd epoll_;
    JobKey key_{};
    std::vector<SocketAddress> addresses_;
    std::vector<os::Fd> listeners_;
    std::vector<PendingChild> pending_children_; // fixed size
    std::vector<Child> children_;
    bool paused_ = false, network_ = false;
    uint64_t heartbeat_at_ = 0;
};

} // namespace zipmpi::launch
