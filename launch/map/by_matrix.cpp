// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/by_matrix.hpp"

#include "base/stable_sort.hpp"
#include "launch/mpiexec/host_choice.hpp"

#include <algorithm>
#include <unordered_map>

namespace zipmpi::launch {
namespace {

constexpr size_t most_talk = 1U << 20; // pairs in a start request
constexpr double heaviest = 1U << 30;

// Cores for ranks that need several: neighbors.
HostCores bundled(const HostCores& cores, uint32_t each) {
    std::vector<CoreNumbers> bundles(std::max<size_t>(1, cores.size() / each));
    for (uint32_t c = 0; c < cores.size() && c / each < bundles.size(); ++c) bundles[c / each].push_back(c);
    return bundles_of(cores, bundles);
}

} // namespace

CpuList below_cache(const HostCores& bundles, size_t which) {
    const uint16_t cache = bundles.places[which].l2;
    CoreNumbers all;
    for (uint32_t b = 0; b < bundles.size(); ++b)
        if (b == which || (bundles.places[b].l2 == cache && cache != topo::several)) all.push_back(b);
    return cpus_of(bundles, all);
}

bool read_matrix_file(const std::string& path, mapping::Matrix& out, Problem& why) {
    std::string text;
    std::string wrong;
    if (!read_whole_file(path, "the communication matrix", text, why)) return false;
    if (mapping::parse_matrix(text, out, wrong)) return true;
    why = {"the communication matrix is not understood", path, wrong,
           "let a run write it: ZIPMPI_MATRIX_FILE=" + path + " mpiexec -n 4 ./a.out"};
    return false;
}

bool fits_job(const mapping::Matrix& matrix, const std::string& path, uint32_t ranks, Problem& why) {
    if (matrix.ranks == ranks) return true;
    why = {"the communication matrix is of another job", path,
           "it is of " + std::to_string(matrix.ranks) + " ranks, and this job has " + std::to_string(ranks),
           "start as many ranks, or let a run of " + std::to_string(ranks) + " ranks write a matrix"};
    return false;
}

NodeMap runs_of(const std::vector<uint32_t>& node_of_rank) {
    std::vector<NodeRun> runs;
    for (const uint32_t node : node_of_rank) {
        if (!runs.empty() && runs.back().node == node)
            ++runs.back().ranks;
        else
            runs.push_back({node, 1});
    }
    return NodeMap(std::move(runs));
}

NodeMap map_ranks_by(const mapping::Graph& graph, std::vector<Host>& hosts,
                     const mapping::GraphTools* tools) {
    const NodeMap in_order = map_ranks(hosts, graph.size(), MapBy::slot);
    std::vector<uint32_t> room;
    for (uint32_t node = 0; node < hosts.size(); ++node)
        room.push_back(static_cast<uint32_t>(in_order.ranks_of(node).size()));
    mapping::Effort effort;
    effort.tools = tools;
    return runs_of(mapping::best_assignment(graph, mapping::nodes_as_targets(room), effort));
}

std::vector<StartRequest::Talk> talk_within_nodes(const mapping::Graph& graph, const NodeMap& map) {
    std::vector<uint32_t> node_of;
    for (const NodeRun& run : map.runs()) node_of.insert(node_of.end(), run.ranks, run.node);
    std::vector<mapping::Edge> edges;
    double most = 0;
    for (uint32_t r = 0; r < graph.size(); ++r)
        for (const auto& l : graph.links(r)) {
            if (l.to < r || node_of[l.to] != node_of[r]) continue;
            edges.push_back({r, l.to, l.weight});
            most = std::max(most, l.weight);
        }
    if (edges.size() > most_talk) {
        stable_sort(edges, [](const auto& a, const auto& b) { return a.weight > b.weight; });
        edges.resize(most_talk);
    }
    std::vector<StartRequest::Talk> talk;
    talk.reserve(edges.size());
    for (const mapping::Edge& e : edges)
        talk.push_back({e.a, e.b, static_cast<uint32_t>(std::max(1.0, e.weight / most * heaviest))});
    return talk;
}

mapping::Graph graph_of(const std::vector<StartRequest::Talk>& talk, const std::vector<uint32_t>& ranks) {
    std::unordered_map<uint32_t, uint32_t> local;
    for (uint32_t i = 0; i < ranks.size(); ++i) local[ranks[i]] = i;
    std::vector<mapping::Edge> edges;
    for (const StartRequest::Talk& t : talk)
        if (local.contains(t.a) && local.contains(t.b))
            edges.push_back({local[t.a], local[t.b], static_cast<double>(t.weight)});
    return {static_cast<uint32_t>(ranks.size()), std::move(edges)};
}

std::vector<CpuList> place_by(const mapping::Graph& graph, const PlacementRequest& request,
                              const HostCores& cores, const mapping::GraphTools* tools) {
    std::vector<CpuList> result(request.ranks);
    if (cores.empty() || request.ranks == 0 || request.policy.bind_to == Unit::none) return result;
    const HostCores bundles = bundled(cores, cores_each(request));
    mapping::Effort effort;
    effort.tools = tools;
    const mapping::Targets targets =
        mapping::cores_as_targets(bundles.places, request.ranks, mapping::spread_order(bundles.places));
    const mapping::Assignment at = mapping::best_assignment(graph, targets, effort);
    const bool shared = request.ranks > bundles.size();
    for (uint32_t r = 0; r < request.ranks; ++r)
        result[r] = shared ? below_cache(bundles, at[r]) : bundles.cpus[at[r]];
    return result;
}

} // namespace zipmpi::launch
