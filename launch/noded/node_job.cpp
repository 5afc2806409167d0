// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/node_job.hpp"

#include "os/host.hpp"
#include "segment/segment_keys.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace zipmpi::launch {

NodeJob::NodeJob(NodeRange range, JobKey* secret)
    : range_(range)
    , networked_(secret != nullptr)
    , host_(os::host_name()) {
    if (secret == nullptr) return;
    secret_ = *secret;
    wipe(*secret);
}

bool NodeJob::read(std::string_view start_request) { return decode(start_request, request_); }

bool NodeJob::make_segment(Diagnostic& why) {
    local_ranks_ = request_.map.ranks_of(range_.node);
    std::vector<int> world(std::max<size_t>(local_ranks_.size(), 1)); // gateways only: one rank
    std::ranges::copy(local_ranks_, world.begin());
    dense_map_ = request_.map.dense();
    segment::NodeTable nodes = node_table();
    if (!is_single_node()) nodes.keys = segment::keys_of_ranks(secret_);
    if (!segment::NodeSegment::make(request_.job_id, world, static_cast<int>(request_.world_size), segment_,
                                    why, &nodes))
        return false;
    if (request_.keep_going) segment_.faults().set_fault_tolerant();
    if (int ends[2]; request_.hold && pipe2(ends, O_CLOEXEC) == 0) {
        held_.reset(ends[0]);
        holder_.reset(ends[1]);
    }
    return std::ranges::count(request_.gateway_nodes, range_.node) == 0 || make_gateway_segment(why);
}

bool NodeJob::make_gateway_segment(Diagnostic& why) {
    segment::NodeTable nodes = node_table();
    nodes.keys = segment::keys_of_gateways(secret_);
    const std::vector<int> world(1, 0);
    return segment::NodeSegment::make(request_.job_id, world, static_cast<int>(request_.world_size),
                                      gateway_segment_, why, &nodes, segment::SegmentUse::gateways);
}

const std::string& NodeJob::host_in_job() const {
    return is_single_node() ? host_ : request_.tree.host(range_.node);
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
    return nodes;
}

uint32_t NodeJob::node_of(uint32_t client) const {
    return client < request_.world_size ? request_.map.node_of(client)
                                        : request_.gateway_nodes[client - request_.world_size];
}

} // namespace zipmpi::launch
