// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The daemons directly below this process, each with all those below it. Used by mpiexec and by every daemon:
// starts them through the launch agent, listens until they have come and proven themselves, carries frames,
// and notices when one is gone or silent. Everything hangs on one epoll descriptor, so that any loop can
// serve it.
#pragma once

#include "launch/link/channel.hpp"
#include "launch/link/messages.hpp"
#include "launch/tree/bootstrap.hpp"

#include <functional>
#include <optional>
#include <sys/types.h>

namespace zipmpi::launch {

inline constexpr uint64_t beat_interval_ns = 500'000'000;

// The same problem, with what was done about it.
inline Problem with_outcome(Problem p, const char* outcome) {
    p.what.append("; ").append(outcome);
    return p;
}

class Subtree {
  public:
    using OnFrame = std::function<void(uint32_t child, const Frame& f)>; // also done, after the last one
    // had_come: it was there before; else it never came
    using OnLost = std::function<void(uint32_t child, bool had_come, const Problem& why)>;

    Subtree(OnFrame on_frame, OnLost on_lost);
    // A daemon that lives on this host and is connected already.
    void adopt(NodePlace place, os::Fd socket, pid_t pid);
    // Starts the daemons of these nodes: at most plan.width of them here, the others below those.
    bool grow(const TreePlan& plan, const JobKey& key, NodePlace nodes, Problem& why);

    [[nodiscard]] int fd() const { return epoll_.get(); } // readable: call serve()
    void serve();
    void on_time();
    [[nodiscard]] uint64_t next_time() const; // when on_time() has something to do; 0: never
    void reaped(pid_t pid, int status);       // an agent, or not one of ours

    void send_all(FrameType type, std::string_view payload = {});
    bool send_to_node(uint32_t node, FrameType type, std::string_view payload); // false: not below us
    [[nodiscard]] bool has_lost(uint32_t node) const;                           // it was below us
    void pause(bool paused); // read nothing from the children for a while
    void close();            // lets them go

    [[nodiscard]] uint32_t children() const { return static_cast<uint32_t>(children_.size()); }
    [[nodiscard]] bool over(uint32_t child) const { return children_[child].over; }
    // It will not come to fences: it is over, or has no ranks.
    [[nodiscard]] bool quiet(uint32_t child) const { return children_[child].over || children_[child].quiet; }
    void mark_quiet(const std::function<bool(NodePlace)>& has_ranks);
    [[nodiscard]] NodePlace place(uint32_t child) const { return children_[child].place; }
    [[nodiscard]] const std::string& host(uint32_t child) const { return children_[child].host; }
    [[nodiscard]] bool all_over() const;
    [[nodiscard]] std::vector<pid_t> pids() const; // of agents and adopted daemons that live

  private:
    struct Child {
        NodePlace place;
        std::string host;
        pid_t pid = -1;
        os::Fd complaints;   // stderr of the agent
        std::string said;    // the end of what came there
        std::string backlog; // frames from before it was connected
        std::optional<Channel> channel;
        bool network = false, over = false, quiet = false;
        uint64_t connect_by = 0, heard = 0;
    };
    struct Stranger {
        os::Fd socket;
        std::optional<HelloAcceptor> hello;
        uint64_t until = 0;
    };
    enum class Source : uint32_t { listener, stranger, child, complaints };

    bool listen(const TreePlan& plan, Problem& why);
    bool start(const TreePlan& plan, const JobKey& key, Child& child, Problem& why);
    void watch(int fd, uint32_t events, Source source, uint32_t index);
    void update(uint32_t child);
    void on_listener(uint32_t listener);
    void on_stranger(uint32_t index);
    void welcome(Stranger& s);
    void on_child(uint32_t index, uint32_t events);
    void on_complaints(Child& c);
    void send(Child& c, FrameType type, std::string_view payload);
    void end(uint32_t child);
    void lost(uint32_t child, const std::string& why, const std::string& todo);
    void start_failed(uint32_t child, const std::string& why);
    void stop_listening_when_complete();

    OnFrame on_frame_;
    OnLost on_lost_;
    os::Fd epoll_;
    JobKey key_{};
    std::vector<Endpoint> endpoints_;
    std::vector<os::Fd> listeners_;
    std::vector<Stranger> strangers_; // a fixed number of places
    std::vector<Child> children_;
    bool paused_ = false, network_ = false;
    uint64_t beat_at_ = 0;
};

} // namespace zipmpi::launch
