// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/policy_map.hpp"

#include "launch/placement/cores.hpp"

#include <algorithm>

namespace zipmpi::launch {
namespace {

constexpr const char* command_line = "command line of mpiexec";

// Keeps the number of ranks on each host, and renumbers them round robin or host by host.
NodeMap renumber(const NodeMap& map, bool in_turn) {
    std::vector<Host> hosts;
    for (const uint32_t node : map.nodes())
        hosts.push_back({"", static_cast<uint32_t>(map.ranks_of(node).size())});
    return map_ranks(hosts, map.size(), in_turn ? MapBy::node : MapBy::slot);
}

NodeMap apply_rank_by(const NodeMap& map, Unit rank_by) {
    return rank_by == Unit::automatic ? map : renumber(map, rank_by == Unit::node);
}

// At most `each` ranks per host; hosts are filled in order.
bool map_per_host(std::vector<Host>& hosts, uint32_t ranks, uint64_t each, NodeMap& out, Diagnostic& why) {
    const uint64_t capacity = each * hosts.size();
    if (ranks > capacity) {
        why = {"there are too many ranks for the mapping", command_line,
               std::to_string(ranks) + " ranks, but " + std::to_string(each) + " on each of " +
                   std::to_string(hosts.size()) + " hosts are " + std::to_string(capacity),
               "start fewer ranks, add hosts, or raise the number per host"};
        return false;
    }
    const auto slots = static_cast<uint32_t>(std::min<uint64_t>(each, ranks));
    for (Host& h : hosts) h = {h.name, slots}; // exactly as many, whatever the speed
    out = map_ranks(hosts, ranks, MapBy::slot);
    return true;
}

bool map_by_rank_file(std::vector<Host>& hosts, uint32_t ranks, const PlacementPolicy& policy, NodeMap& out,
                      Diagnostic& why) {
    std::vector<uint32_t> node_of(ranks, UINT32_MAX);
    for (const auto& line : policy.rank_file) {
        const auto at = std::ranges::find(hosts, line.host, &Host::name);
        if (line.rank >= ranks || at == hosts.end()) {
            why = {"the rank file does not fit the job",
                   "rank " + std::to_string(line.rank) + "=" + line.host,
                   line.rank >= ranks ? "the job has " + std::to_string(ranks) + " ranks"
                                      : "this host is not a host of the job",
                   "correct the file, -n or --host"};
            return false;
        }
        node_of[line.rank] = static_cast<uint32_t>(at - hosts.begin());
    }
    std::vector<NodeRun> runs;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        if (node_of[rank] == UINT32_MAX) {
            why = {"the rank file does not fit the job", "rank " + std::to_string(rank),
                   "there is no line for it, and the job has " + std::to_string(ranks) + " ranks",
                   "add a line for each rank: rank " + std::to_string(rank) + "=node1 slot=0"};
            return false;
        }
        if (runs.empty() || runs.back().node != node_of[rank]) runs.push_back({node_of[rank], 0});
        ++runs.back().ranks;
    }
    const NodeMap map(runs);
    std::vector<Host> used;
    for (const uint32_t node : map.nodes()) used.push_back(hosts[node]);
    hosts = std::move(used);
    out = map.dense();
    return true;
}

} // namespace

MapBy host_map_by(const PlacementPolicy& policy) {
    return policy.strategy == MapStrategy::round_robin && policy.map_unit == Unit::node ? MapBy::node
                                                                                        : MapBy::slot;
}

bool map_by_policy(std::vector<Host>& hosts, uint32_t ranks, const PlacementPolicy& policy, uint32_t units,
                   NodeMap& out, Diagnostic& why) {
    if (policy.strategy == MapStrategy::rank_file && !policy.rank_file.empty())
        return map_by_rank_file(hosts, ranks, policy, out, why);
    if (policy.strategy == MapStrategy::per_unit) {
        if (!map_per_host(hosts, ranks, uint64_t{policy.per_unit} * units, out, why)) return false;
    } else {
        if (policy.cores_per_rank > 1)
            for (Host& h : hosts) h.slots = std::max(h.slots / policy.cores_per_rank, 1U);
        out = map_ranks(hosts, ranks, host_map_by(policy));
    }
    out = apply_rank_by(out, policy.rank_by);
    return true;
}

bool map_ranks(std::vector<Host>& hosts, uint32_t ranks, const PlacementPolicy& policy, NodeMap& out,
               Diagnostic& why) {
    const bool counted = policy.strategy == MapStrategy::per_unit;
    return map_by_policy(hosts, ranks, policy, counted ? count_local_units(policy.map_unit) : 1, out, why);
}

} // namespace zipmpi::launch
