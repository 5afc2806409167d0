// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/rank_processes.hpp"

#include "launch/report/exit_report.hpp"
#include "launch/report/read_segment.hpp"

#include <algorithm>
#include <csignal>
#include <sys/wait.h>

namespace zipmpi::launch {

void RankProcesses::begin(const NodeJob& job) {
    ranks_.resize(job.ranks());
    for (uint32_t local = 0; local < size(); ++local) {
        ranks_[local].world_rank = job.local_ranks()[local];
        ranks_[local].app = job.request().app_of(job.local_ranks()[local]);
    }
}

void RankProcesses::on_started(uint32_t local, pid_t pid) {
    ranks_[local].pid = pid;
    ranks_[local].live = true;
    ++live_;
    by_pid_[pid] = local;
}

std::optional<uint32_t> RankProcesses::take_pid(pid_t pid) {
    const auto it = by_pid_.find(pid);
    if (it == by_pid_.end()) return {};
    const uint32_t local = it->second;
    by_pid_.erase(it);
    return local;
}

void RankProcesses::on_exited(uint32_t local, int status) {
    ranks_[local].live = false;
    ranks_[local].status = status;
    --live_;
}

void RankProcesses::signal_all(int signal) const {
    for (const RankProcess& rank : ranks_)
        if (rank.live) kill(-rank.pid, signal);
}

std::optional<uint32_t> RankProcesses::find(uint32_t world_rank) const {
    const auto it = std::ranges::find(ranks_, world_rank, &RankProcess::world_rank);
    if (it == ranks_.end()) return {};
    return static_cast<uint32_t>(it - ranks_.begin());
}

uint32_t RankProcesses::world_rank(uint32_t local) const {
    return local < size() ? ranks_[local].world_rank : 0;
}

std::vector<uint32_t> RankProcesses::exit_codes() const {
    std::vector<uint32_t> codes;
    for (const RankProcess& r : ranks_)
        if (r.pid > 0)
            codes.push_back(static_cast<uint32_t>(WIFSIGNALED(r.status) ? 128 + WTERMSIG(r.status)
                                                                        : WEXITSTATUS(r.status)));
    return codes;
}

Snapshot RankProcesses::snapshot(const segment::NodeSegment& segment) const {
    Snapshot all;
    if (!segment) return all;
    for (uint32_t i = 0; i < size(); ++i) {
        all.push_back(read_rank_snapshot(segment, i));
        if (ranks_[i].live) continue;
        all.back().phase = RankPhase::exited;
        all.back().exit_reason = exit_text(ranks_[i].status);
    }
    return all;
}

HostView RankProcesses::view(const NodeJob& job) const {
    HostView view{job.host_in_job(), snapshot(job.segment()), {}};
    for (uint32_t i = 0; i < view.ranks.size(); ++i)
        view.totals.push_back(read_totals(job.segment().block(i).counters));
    return view;
}

// The mpiexec of such a job becomes a child of the daemon when the rank exits.
bool RankProcesses::has_spawned_jobs() {
    std::erase_if(spawned_, [](pid_t pid) { return kill(pid, 0) != 0; });
    return !spawned_.empty();
}

} // namespace zipmpi::launch
