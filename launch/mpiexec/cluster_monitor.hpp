// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gateways of a multi-cluster job: reports failures, ends the job when clusters stay disconnected, and ends
// the gateways after the last rank.
#pragma once

#include "launch/clusters/reachability.hpp"
#include "launch/mpiexec/job_status.hpp"
#include "launch/tree/fence.hpp"
#include "launch/tree/subtree.hpp"

namespace zipmpi::launch {

class ClusterMonitor {
  public:
    ClusterMonitor(const StartRequest& request, Subtree& subtree, JobOutput& output, JobStatus& status);

    [[nodiscard]] const ClusterReachability& reachability() const { return reachability_; }
    void on_gateway_failed(std::string_view payload); // payload of a frame
    // Returns false if the failure is not one of gateways only, or if the job ends anyway.
    bool on_gateway_host_failed(uint32_t child, const Diagnostic& why);
    void on_ranks_finished(uint32_t child);
    void end_gateways_when_finished();
    void on_time(uint64_t now);
    [[nodiscard]] uint64_t next_time() const { return partition_deadline_; }

  private:
    void report_failure(const std::string& what);

    const StartRequest& request_;
    Subtree& subtree_;
    JobOutput& output_;
    JobStatus& status_;
    ClusterReachability reachability_;
    FenceGather ranks_finished_;
    uint64_t partition_deadline_ = 0;
};

} // namespace zipmpi::launch
