// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The processes of the ranks on this node: pids, exit statuses and CPUs. Also the jobs that the ranks have
// started with MPI_Comm_spawn.
#pragma once

#include "launch/noded/node_job.hpp"
#include "launch/placement/hardware_units.hpp"

#include <optional>
#include <set>
#include <sys/types.h>
#include <unordered_map>

namespace zipmpi::launch {

struct RankProcess {
    pid_t pid = -1;
    bool live = false;
    int status = 0;          // wait status
    uint32_t world_rank = 0; // rank in MPI_COMM_WORLD
    uint32_t app = 0;
    CpuList cpus; // assigned CPUs; empty: all
};

class RankProcesses {
  public:
    void begin(const NodeJob& job);
    [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(ranks_.size()); }
    [[nodiscard]] bool empty() const { return ranks_.empty(); }
    RankProcess& operator[](uint32_t local) { return ranks_[local]; }
    const RankProcess& operator[](uint32_t local) const { return ranks_[local]; }
    [[nodiscard]] auto begin() const { return ranks_.begin(); }
    [[nodiscard]] auto end() const { return ranks_.end(); }

    void on_started(uint32_t local, pid_t pid);
    std::optional<uint32_t> take_pid(pid_t pid); // local index of a rank that has been reaped
    void on_exited(uint32_t local, int status);
    [[nodiscard]] uint32_t live() const { return live_; }
    void signal_all(int signal) const; // to the process groups of running ranks
    // Local index of a rank of MPI_COMM_WORLD.
    [[nodiscard]] std::optional<uint32_t> find(uint32_t world_rank) const;
    // Rank in MPI_COMM_WORLD that a failure is attributed to; 0 if this node has no ranks.
    [[nodiscard]] uint32_t world_rank(uint32_t local) const;
    [[nodiscard]] std::vector<uint32_t> exit_codes() const; // of ranks that were started, as in shells
    [[nodiscard]] Snapshot snapshot(const segment::NodeSegment& segment) const;
    [[nodiscard]] HostView view(const NodeJob& job) const;

    void add_spawned_job(pid_t pid) { spawned_.insert(pid); } // pid of its mpiexec
    void remove_spawned_job(pid_t pid) { spawned_.erase(pid); }
    bool has_spawned_jobs();

  private:
    std::vector<RankProcess> ranks_; // by local index
    std::unordered_map<pid_t, uint32_t> by_pid_;
    uint32_t live_ = 0;
    std::set<pid_t> spawned_;
};

} // namespace zipmpi::launch
