// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/cluster_monitor.hpp"

#include "launch/protocol/deadline.hpp"

#include "bridge/settings.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"

namespace zipmpi::launch {
namespace {

constexpr uint64_t second = 1'000'000'000;

} // namespace

ClusterMonitor::ClusterMonitor(const StartRequest& request, Subtree& subtree, JobOutput& output,
                               JobStatus& status)
    : request_(request)
    , subtree_(subtree)
    , output_(output)
    , status_(status) {
    reachability_.begin(request_);
}

void ClusterMonitor::on_gateway_failed(std::string_view payload) {
    PayloadReader r(payload);
    reachability_.fail_gateway(r.u32());
    report_failure(r.text());
}

bool ClusterMonitor::on_gateway_host_failed(uint32_t child, const Diagnostic& why) {
    const NodeRange range = subtree_.child(child).range;
    if (!reachability_.fail_nodes(range.node, range.end) || status_.is_failed() || status_.is_interrupted())
        return false;
    end_gateways_when_finished();
    report_failure("gateway host " + subtree_.child(child).host + " has failed: " + why.why);
    return true;
}

// The job is not ended immediately: the ranks may finish without further inter-cluster traffic.
void ClusterMonitor::report_failure(const std::string& what) {
    const std::string partition = reachability_.find_partition();
    if (!partition.empty() && partition_deadline_ == 0)
        partition_deadline_ =
            os::now_ns() + static_cast<uint64_t>(bridge::partition_timeout_seconds()) * second + 1;
    output_.write_stderr("mpiexec: " + what + "; " +
                         (partition.empty() ? "the job continues over the others\n"
                                            : "no path is left between clusters " + partition + "\n"));
}

void ClusterMonitor::on_ranks_finished(uint32_t child) {
    ranks_finished_.add_child(child, {});
    end_gateways_when_finished();
}

// Gateways run until the last rank of the job has ended: they may carry frames between other clusters.
void ClusterMonitor::end_gateways_when_finished() {
    if (!request_.cluster_map.empty() && ranks_finished_.has_all_children(subtree_))
        subtree_.send_all(ControlFrameType::end_gateways);
}

void ClusterMonitor::on_time(uint64_t now) {
    if (!take_due(partition_deadline_, now) || status_.is_failed() || status_.is_done()) return;
    const std::string who = reachability_.find_partition();
    status_.fail(1,
                 {"clusters " + who + " are disconnected; the job was terminated",
                  "mpiexec, host " + os::host_name(),
                  "no path between them for " + std::to_string(bridge::partition_timeout_seconds()) +
                      " s (gateway.partition_timeout)",
                  "see the messages about gateways above; add gateways, or raise gateway.partition_timeout"});
    subtree_.send_all(ControlFrameType::end_job);
}

} // namespace zipmpi::launch
