// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/by_traffic.hpp"

#include "base/stable_sort.hpp"
#include "launch/mpiexec/host_selection.hpp"

#include <algorithm>
#include <unordered_map>

namespace zipmpi::launch {
namespace {

constexpr size_t max_traffic_pairs = 1U << 20; // in a start request
constexpr double heaviest = 1U << 30;

// Groups of adjacent cores for ranks that need several.
HostCores make_core_blocks(const HostCores& cores, uint32_t each) {
    std::vector<CoreIndices> blocks(std::max<size_t>(1, cores.size() / each));
    for (uint32_t c = 0; c < cores.size() && c / each < blocks.size(); ++c) blocks[c / each].push_back(c);
    return merge_core_blocks(cores, blocks);
}

} // namespace

CpuList cpus_sharing_l2(const HostCores& blocks, size_t which) {
    const uint16_t cache = blocks.localities[which].l2;
    CoreIndices all;
    for (uint32_t b = 0; b < blocks.size(); ++b)
        if (b == which || (blocks.localities[b].l2 == cache && cache != hwtopo::spans_several))
            all.push_back(b);
    return cpus_of(blocks, all);
}

bool read_matrix_file(const std::string& path, mapping::Matrix& out, Diagnostic& why) {
    std::string text;
    std::string wrong;
    if (!read_whole_file(path, "the communication matrix", text, why)) return false;
    if (mapping::parse_matrix(text, out, wrong)) return true;
    why = {"the communication matrix is not valid", path, wrong,
           "create it by a run: ZIPMPI_MATRIX_FILE=" + path + " mpiexec -n 4 ./a.out"};
    return false;
}

bool check_matrix_size(const mapping::Matrix& matrix, const std::string& path, uint32_t ranks,
                       Diagnostic& why) {
    if (matrix.ranks == ranks) return true;
    why = {"the communication matrix does not match the job", path,
           "it is for " + std::to_string(matrix.ranks) + " ranks, and this job has " + std::to_string(ranks),
           "start that number of ranks, or create a matrix by a run of " + std::to_string(ranks) + " ranks"};
    return false;
}

NodeMap make_node_map(const std::vector<uint32_t>& node_of_rank) {
    std::vector<NodeRun> runs;
    for (const uint32_t node : node_of_rank) {
        if (!runs.empty() && runs.back().node == node)
            ++runs.back().ranks;
        else
            runs.push_back({node, 1});
    }
    return NodeMap(std::move(runs));
}

NodeMap map_ranks_by_traffic(const mapping::Graph& graph, std::vector<Host>& hosts,
                             const mapping::GraphTools* tools) {
    const NodeMap in_order = map_ranks(hosts, graph.size(), MapBy::slot);
    std::vector<uint32_t> capacity;
    for (uint32_t node = 0; node < hosts.size(); ++node)
        capacity.push_back(static_cast<uint32_t>(in_order.ranks_of(node).size()));
    mapping::Effort effort;
    effort.tools = tools;
    return make_node_map(mapping::assign_ranks(graph, mapping::nodes_as_targets(capacity), effort));
}

std::vector<StartRequest::TrafficPair> traffic_within_nodes(const mapping::Graph& graph, const NodeMap& map) {
    std::vector<uint32_t> node_of;
    for (const NodeRun& run : map.runs()) node_of.insert(node_of.end(), run.ranks, run.node);
    std::vector<mapping::Edge> edges;
    double most = 0;
    for (uint32_t r = 0; r < graph.size(); ++r)
        for (const auto& l : graph.neighbors(r)) {
            if (l.to < r || node_of[l.to] != node_of[r]) continue;
            edges.push_back({r, l.to, l.weight});
            most = std::max(most, l.weight);
        }
    if (edges.size() > max_traffic_pairs) {
        stable_sort(edges, [](const auto& a, const auto& b) { return a.weight > b.weight; });
        edges.resize(max_traffic_pairs);
    }
    std::vector<StartRequest::TrafficPair> traffic;
    traffic.reserve(edges.size());
    for (const mapping::Edge& e : edges)
        traffic.push_back({e.a, e.b, static_cast<uint32_t>(std::max(1.0, e.weight / most * heaviest))});
    return traffic;
}

mapping::Graph local_traffic_graph(const std::vector<StartRequest::TrafficPair>& traffic,
                                   const std::vector<uint32_t>& ranks) {
    std::unordered_map<uint32_t, uint32_t> local;
    for (uint32_t i = 0; i < ranks.size(); ++i) local[ranks[i]] = i;
    std::vector<mapping::Edge> edges;
    for (const StartRequest::TrafficPair& t : traffic)
        if (local.contains(t.a) && local.contains(t.b))
            edges.push_back({local[t.a], local[t.b], static_cast<double>(t.weight)});
    return {static_cast<uint32_t>(ranks.size()), std::move(edges)};
}

std::vector<CpuList> assign_cpus_by_traffic(const mapping::Graph& graph, const PlacementRequest& request,
                                            const HostCores& cores, const mapping::GraphTools* tools) {
    std::vector<CpuList> result(request.ranks);
    if (cores.empty() || request.ranks == 0 || request.policy.bind_to == Unit::none) return result;
    const HostCores blocks = make_core_blocks(cores, cores_for_rank(request));
    mapping::Effort effort;
    effort.tools = tools;
    const mapping::Targets targets =
        mapping::cores_as_targets(blocks.localities, request.ranks, mapping::spread_order(blocks.localities));
    const mapping::Assignment at = mapping::assign_ranks(graph, targets, effort);
    const bool shared = request.ranks > blocks.size();
    for (uint32_t r = 0; r < request.ranks; ++r)
        result[r] = shared ? cpus_sharing_l2(blocks, at[r]) : blocks.cpus[at[r]];
    return result;
}

} // namespace zipmpi::launch
