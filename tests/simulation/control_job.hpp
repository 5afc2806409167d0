// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A job with --keep-going on several hosts: the PMI server of each daemon (launch/pmi), the fences of the
// launch tree (launch/tree), the routing of requests between nodes, and the combining of contributions to
// agreements in daemons and the sequencer of failures and agreements in mpiexec (launch/report). Ranks
// repeat: put, fence, get, agree. Ranks and hosts are killed, daemons and ranks are stopped.
//
// Checked at every step:
//   - no rank leaves a fence before all live ranks have entered it;
//   - a rank finds what a live rank has put before the fence, and never another value;
//   - all ranks obtain the same result of an agreement and the same failed ranks with it, and the
//     contribution of every rank that has not failed is in it;
//   - every request of a rank is answered within bounded virtual time.
#pragma once

#include "simulator.hpp"

#include "launch/pmi/pmi_server.hpp"
#include "launch/report/agreement_gather.hpp"
#include "launch/report/fault_sequencer.hpp"
#include "launch/tree/child_ranges.hpp"
#include "launch/tree/tree_fence.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace zipmpi::simulation {

class ControlJob;

enum class LinkFrame { fence_in, fence_out, routed, event, done }; // on the connections of the tree

// The result of an agreement as a rank sees it.
struct Decision {
    uint32_t flags = 0, value = 0;
    std::set<uint32_t> failed;
    friend bool operator==(const Decision&, const Decision&) = default;
};

// The children of a process in the tree. Also what launch::BasicTreeFence needs.
class TreeChildren {
  public:
    struct Child {
        launch::NodeRange range;
        bool finished = false;
    };
    void add(launch::NodeRange range) { all_.push_back({range}); }
    [[nodiscard]] std::vector<Child>& all() { return all_; }
    [[nodiscard]] uint32_t children() const { return static_cast<uint32_t>(all_.size()); }
    [[nodiscard]] bool exempt_from_fence(uint32_t child) const { return all_[child].finished; }
    [[nodiscard]] uint32_t child_with(uint32_t node) const; // UINT32_MAX: none

  private:
    std::vector<Child> all_;
};

// One rank: its requests, one after the other.
class ControlRank {
  public:
    ControlRank(ControlJob& job, uint32_t rank);
    void start() { send("cmd=init pmi_version=1 pmi_subversion=1\n"); }
    void receive(std::string_view bytes); // from its daemon
    void decided(uint32_t number, const Decision& decision);
    void kill() { alive_ = false; }
    void stop_until(uint64_t when) { stopped_until_ = when; }
    [[nodiscard]] bool is_alive() const { return alive_; }
    [[nodiscard]] bool is_running() const { return alive_ && !ended_; }
    [[nodiscard]] bool has_ended() const { return ended_; }
    [[nodiscard]] uint32_t fences_entered() const { return fences_; }
    [[nodiscard]] uint32_t value() const {
        return rank_ * 100 + round_;
    } // of its contribution to an agreement
    [[nodiscard]] std::string state() const;

  private:
    void handle(const std::string& line);
    void next_step();
    void send(const std::string& text);
    void check_value(const std::string& line);

    ControlJob& job_;
    uint32_t rank_;
    bool alive_ = true, ended_ = false;
    uint64_t stopped_until_ = 0;
    uint32_t round_ = 0, fences_ = 0;
    int step_ = 0;
    uint32_t owner_ = 0; // of the key that is requested
    std::string in_, waits_for_;
};

// The daemon of one node.
class ControlDaemon {
  public:
    ControlDaemon(ControlJob& job, launch::NodeRange range, uint32_t parent, uint32_t number);
    void feed(uint32_t local, std::string_view bytes);
    void receive(uint32_t from, LinkFrame type, const std::string& payload); // from: node, or mpiexec
    void on_rank_exit(uint32_t local);
    void on_child_failed(uint32_t child);
    void kill() { alive_ = false; }
    void stop_until(uint64_t when) { stopped_until_ = when; }
    [[nodiscard]] bool is_alive() const { return alive_; }
    [[nodiscard]] uint64_t stopped_until() const { return stopped_until_; }
    [[nodiscard]] TreeChildren& below() { return below_; }
    [[nodiscard]] launch::NodeRange range() const { return range_; }
    [[nodiscard]] uint32_t parent() const { return parent_; }
    [[nodiscard]] uint32_t number() const { return number_; } // among the children of its parent

  private:
    void on_notify(uint32_t local, const launch::PmiMessage& m);
    void on_event(const launch::JobEvent& e);
    void report_failed(const launch::RankRanges& ranks);
    void route(const launch::RoutedMessage& m);
    void send_up(LinkFrame type, const std::string& payload);
    void send_down(LinkFrame type, const std::string& payload);
    void end_if_finished();
    launch::PmiServer::RemoteNodes make_remote_nodes();

    ControlJob& job_;
    launch::NodeRange range_;
    uint32_t parent_, number_;
    bool alive_ = true;
    uint64_t stopped_until_ = 0;
    std::vector<uint32_t> local_ranks_;
    size_t exited_ = 0; // of local_ranks_
    TreeChildren below_;
    launch::BasicTreeFence<TreeChildren> fence_;
    std::unique_ptr<launch::PmiServer> pmi_;
    launch::AgreementGather gather_;
    std::vector<uint32_t> failed_;                      // in the order of mpiexec
    std::map<uint32_t, std::vector<uint32_t>> waiters_; // local ranks by agreement
};

class ControlJob {
  public:
    static constexpr uint32_t mpiexec = UINT32_MAX; // as a node
    static constexpr uint32_t rounds = 3;

    ControlJob(uint64_t seed, Trace trace);
    std::string run(); // the violation; empty: none

    Simulator simulator;
    [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(ranks_.size()); }
    [[nodiscard]] ControlRank& rank(uint32_t rank) { return *ranks_[rank]; }
    [[nodiscard]] ControlDaemon& daemon(uint32_t node) { return *daemons_[node]; }
    [[nodiscard]] uint32_t node_of(uint32_t rank) const { return node_of_[rank]; }
    [[nodiscard]] uint32_t local_of(uint32_t rank) const { return local_of_[rank]; }
    [[nodiscard]] std::vector<uint32_t> ranks_of(uint32_t node) const;
    [[nodiscard]] launch::RankRanges ranks_of(launch::NodeRange nodes) const;
    void send(uint32_t from, uint32_t to, LinkFrame type, const std::string& payload); // nodes of the tree
    void send_to_daemon(uint32_t rank, const std::string& text);
    void send_to_rank(uint32_t rank, const std::string& text, uint64_t not_before);
    // Its host and those between it and mpiexec are up.
    [[nodiscard]] bool is_in_job(uint32_t rank) const;
    void check_fence(uint32_t rank, uint32_t fence);
    void check_decision(uint32_t number, const Decision& decision);
    void report_exit(uint32_t rank); // to its daemon, after what it has sent
    void note_contribution(uint32_t number, uint32_t rank) { contributed_[number].insert(rank); }

  private:
    void make_tree(uint32_t parent, launch::NodeRange nodes);
    void receive_in_mpiexec(uint32_t child, LinkFrame type, const std::string& payload);
    void release_fence_if_complete();
    void process_in_mpiexec(const launch::JobEvent& event);
    void place_fault();
    void kill_rank(uint32_t rank);
    void kill_node(uint32_t node);
    uint64_t in_order(uint32_t from, uint32_t to, uint64_t delay);

    launch::LaunchTree plan_;
    std::vector<uint32_t> node_of_, local_of_;
    std::vector<std::unique_ptr<ControlDaemon>> daemons_;
    std::vector<std::unique_ptr<ControlRank>> ranks_;
    TreeChildren top_; // children of mpiexec
    launch::FenceGather fence_;
    std::unique_ptr<launch::FaultSequencer> sequencer_;
    bool is_announcing_ = false; // mpiexec will announce failures
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> last_due_;
    std::map<uint32_t, Decision> decisions_;
    std::map<uint32_t, std::set<uint32_t>> contributed_; // ranks by agreement
    uint64_t faults_end_ = 0;
};

} // namespace zipmpi::simulation
