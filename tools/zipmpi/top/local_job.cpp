// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/local_job.hpp"

#include "launch/report/read_segment.hpp"
#include "top/job_discovery.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

bool is_alive(const WatchedJob& job) {
    for (uint32_t i = 0; i < job.segment.local_ranks(); ++i) {
        const auto state = static_cast<wire::RankState>(job.segment.block(i).state.load());
        if (state == wire::RankState::absent || state == wire::RankState::running) return true;
    }
    return false;
}

bool is_selected(const WatchedJob& job, const TopOptions& o) {
    if (!o.job.empty() && job.id.find(o.job) == std::string::npos) return false;
    return o.pid == 0 || any_descends_from(job.holders, o.pid);
}

class LocalJob final : public JobSource {
  public:
    explicit LocalJob(std::unique_ptr<WatchedJob> job)
        : job_(std::move(job)) {}

    [[nodiscard]] const std::string& id() const override { return job_->id; }
    [[nodiscard]] const segment::NodeSegment* segment() const override { return &job_->segment; }

    bool sample(JobSample& out) override {
        out = {};
        for (uint32_t i = 0; i < job_->segment.local_ranks(); ++i) {
            out.totals.push_back(launch::read_totals(job_->segment.block(i).counters));
            out.ranks.push_back(launch::read_rank_snapshot(job_->segment, i));
        }
        return is_alive(*job_);
    }

    [[nodiscard]] std::string extent() const override {
        const wire::SegmentHeader& h = job_->segment.header();
        return h.nodes > 1 ? fmt::format("node {} of {}", h.node, h.nodes) : "";
    }

    [[nodiscard]] Json facts() const override {
        const wire::SegmentHeader& h = job_->segment.header();
        return {{"job", job_->id}, {"node", h.node}, {"nodes", h.nodes}, {"world_size", h.world_size}};
    }

  private:
    std::unique_ptr<WatchedJob> job_;
};

} // namespace

std::vector<std::unique_ptr<WatchedJob>> find_jobs(const TopOptions& options) {
    std::vector<std::unique_ptr<WatchedJob>> jobs;
    for (SharedFile& file : find_shared_files("zipmpi-node")) {
        auto job = std::make_unique<WatchedJob>();
        Diagnostic why; // another version, or not initialized yet
        if (!segment::NodeSegment::attach(std::move(file.fd), job->segment, why, os::Access::read_only))
            continue;
        const char* id = job->segment.header().job_id;
        job->id.assign(id, strnlen(id, sizeof job->segment.header().job_id));
        job->holders = std::move(file.holders);
        if (is_selected(*job, options) && is_alive(*job)) jobs.push_back(std::move(job));
    }
    std::sort(jobs.begin(), jobs.end(),
              [](const auto& a, const auto& b) { return a->holders.front() < b->holders.front(); });
    return jobs;
}

std::vector<std::unique_ptr<JobSource>> find_local_jobs(const TopOptions& options) {
    std::vector<std::unique_ptr<JobSource>> sources;
    for (std::unique_ptr<WatchedJob>& job : find_jobs(options))
        sources.push_back(std::make_unique<LocalJob>(std::move(job)));
    return sources;
}

} // namespace zipmpi::tool
