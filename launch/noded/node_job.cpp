// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/node_job.hpp"

#include "os/host.hpp"

#include <algorithm>

namespace zipmpi::launch {

NodeJob::NodeJob(NodeRange range, const JobKey* key)
    : range_(range)
    , networked_(key != nullptr)
    , host_(os::host_name()) {
    if (key != nullptr) key_ = *key;
}

bool NodeJob::read(std::string_view start_request) { return decode(start_request, request_); }

bool NodeJob::make_segment(Diagnostic& why) {
    local_ranks_ = request_.map.ranks_of(range_.node);
    std::vector<int> world(local_ranks_.begin(), local_ranks_.end());
    if (world.empty()) world.push_back(0); // gateways only: they read the key of the job from the segment
    dense_map_ = request_.map.dense();
    const segment::NodeTable nodes = node_table();
    if (!segment::NodeSegment::make(request_.job_id, world, static_cast<int>(request_.world_size), segment_,
                                    why, &nodes))
        return false;
    if (request_.keep_going) segment_.faults().set_fault_tolerant();
    return true;
}

const std::string& NodeJob::host_in_job() const {
    return is_single_node() ? host_ : request_.tree.hosts[range_.node];
}

segment::NodeTable NodeJob::node_table() const {
    segment::NodeTable nodes;
    if (is_single_node()) return nodes;
    for (const NodeRun& run : dense_map_.runs())
        nodes.node_of.insert(nodes.node_of.end(), run.ranks, run.node);
    const std::vector<uint32_t> used = request_.map.nodes();
    nodes.count = static_cast<uint32_t>(used.size());
    const auto own = std::find(used.begin(), used.end(), range_.node);
    nodes.own = own != used.end() ? static_cast<uint32_t>(own - used.begin()) : 0;
    nodes.key = key_;
    return nodes;
}

uint32_t NodeJob::node_of(uint32_t client) const {
    return client < request_.world_size ? request_.map.node_of(client)
                                        : request_.gateway_nodes[client - request_.world_size];
}

} // namespace zipmpi::launch
