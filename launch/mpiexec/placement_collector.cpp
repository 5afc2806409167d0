// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/placement_collector.hpp"

#include <algorithm>

namespace zipmpi::launch {

// Printed when all nodes have reported.
void PlacementCollector::on_placement_text(std::string_view payload,
                                           const ClusterReachability& reachability) {
    PayloadReader r(payload);
    const uint32_t node = r.u32();
    placement_texts_[node] = r.text();
    if (placement_texts_.size() < std::max<size_t>(request_.tree.hosts.size(), 1)) return;
    for (const auto& [number, text] : placement_texts_) output_.write_stdout(text);
    output_.write_stdout(reachability.gateways_text());
    placement_texts_.clear();
}

// When all nodes have reported their machine, nodes that share one get their share of its cores.
void PlacementCollector::on_kernel_info(std::string_view payload) {
    PayloadReader r(payload);
    NodeKernel k;
    k.node = r.u32();
    k.boot_id = r.text();
    k.cpus = r.numbers();
    if (!r.is_finished() || k.node >= request_.tree.hosts.size()) return;
    k.ranks = static_cast<uint32_t>(request_.map.ranks_of(k.node).size());
    kernels_.push_back(std::move(k));
    if (kernels_.size() < request_.map.nodes().size()) return;
    std::ranges::sort(kernels_, {}, &NodeKernel::node);
    for (const KernelShare& p : kernel_shares(kernels_)) {
        PayloadWriter w;
        subtree_.send_to_node(p.node, ControlFrameType::kernel_share,
                              w.u32(p.node).u32(p.first).u32(p.all).take());
    }
}

} // namespace zipmpi::launch
