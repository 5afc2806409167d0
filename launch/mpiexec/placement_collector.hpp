// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the nodes report about their placement: prints it in the order of the nodes, and gives nodes that
// share a machine their share of its cores.
#pragma once

#include "launch/clusters/reachability.hpp"
#include "launch/mpiexec/job_output.hpp"
#include "launch/placement/kernel_share.hpp"
#include "launch/tree/subtree.hpp"

#include <map>

namespace zipmpi::launch {

class PlacementCollector {
  public:
    PlacementCollector(const StartRequest& request, Subtree& subtree, JobOutput& output)
        : request_(request)
        , subtree_(subtree)
        , output_(output) {}

    // Payloads of frames.
    void on_placement_text(std::string_view payload, const ClusterReachability& reachability);
    void on_kernel_info(std::string_view payload);

  private:
    const StartRequest& request_;
    Subtree& subtree_;
    JobOutput& output_;
    std::map<uint32_t, std::string> placement_texts_; // by node
    std::vector<NodeKernel> kernels_;                 // of the nodes that have reported
};

} // namespace zipmpi::launch
