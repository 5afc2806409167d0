// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Chooses and reports the CPUs of the ranks, and moves ranks when other jobs start or end.
#pragma once

#include "launch/noded/host_placement.hpp"
#include "launch/noded/job_lifecycle.hpp"

namespace zipmpi::launch {

class RankBinder {
  public:
    RankBinder(NodeJob& job, EventLoop& loop, ParentLink& parent, JobLifecycle& lifecycle,
               RankProcesses& ranks);
    void begin() { placement_.begin(job_.request(), job_.node()); } // early: reads the load of the host
    bool place(Diagnostic& why);
    [[nodiscard]] const CpuList& cpus_of(uint32_t local) const { return placement_.rank_cpus()[local].cpus; }
    // Restricts the ranks to their share of a machine that has several nodes of the job.
    void on_kernel_share(PayloadReader& share);
    HostCores claim_all_cores() { return placement_.claim_all_cores(); } // for rebinding
    void release_claims() { placement_.release_claims(); }               // all ranks have exited

    void rebind(uint32_t local, const CpuList& cpus);
    void publish_rebinds(); // after all of them
    void update_lent_cpus();
    [[nodiscard]] uint64_t next_time() const { return update_lent_at_; } // when that is due; 0: never

  private:
    void watch_claims();
    void set_localities();
    void report_bindings();
    void show_placement();
    void send_kernel_info();
    void publish_other_ranks();
    void rebind_ranks(const CoreIndices& which);

    NodeJob& job_;
    EventLoop& loop_;
    ParentLink& parent_;
    JobLifecycle& lifecycle_;
    RankProcesses& ranks_;
    EventLoop::Source claims_source_;
    HostPlacement placement_;
    uint32_t other_ranks_of_job_ = 0; // on other nodes that share the CPUs of this one
    uint64_t update_lent_at_ = 0;     // 0: no change
};

} // namespace zipmpi::launch
