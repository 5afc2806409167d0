// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/node_map.hpp"

#include "mapping/shares.hpp"

#include <algorithm>

namespace zipmpi::launch {
namespace {

struct ProcessMapBlock { // of PMI_process_mapping: blocks of ranks, round robin over these nodes
    uint32_t first, nodes, ranks;
    bool operator==(const ProcessMapBlock&) const = default;
};

std::vector<ProcessMapBlock> blocks_of(const std::vector<NodeRun>& runs) {
    std::vector<ProcessMapBlock> blocks;
    for (const NodeRun& run : runs) {
        if (!blocks.empty() && blocks.back().ranks == run.ranks &&
            blocks.back().first + blocks.back().nodes == run.node)
            ++blocks.back().nodes;
        else
            blocks.push_back({run.node, 1, run.ranks});
    }
    return blocks;
}

std::vector<NodeRun> by_slot(const std::vector<Host>& hosts, uint32_t ranks) {
    std::vector<NodeRun> runs;
    for (uint32_t node = 0; node < hosts.size() && ranks > 0; ++node) {
        runs.push_back({node, std::min(hosts[node].slots, ranks)});
        ranks -= runs.back().ranks;
    }
    return runs;
}

std::vector<NodeRun> by_node(const std::vector<Host>& hosts, uint32_t ranks) {
    std::vector<NodeRun> runs;
    for (uint32_t round = 0; ranks > 0; ++round)
        for (uint32_t node = 0; node < hosts.size() && ranks > 0; ++node) {
            if (hosts[node].slots <= round) continue;
            --ranks;
            if (!runs.empty() && runs.back().node == node)
                ++runs.back().ranks;
            else
                runs.push_back({node, 1});
        }
    return runs;
}

} // namespace

NodeMap::NodeMap(std::vector<NodeRun> runs)
    : runs_(std::move(runs)) {
    for (const NodeRun& run : runs_) {
        first_.push_back(size_);
        size_ += run.ranks;
    }
}

std::vector<uint32_t> NodeMap::ranks_of(uint32_t node) const {
    std::vector<uint32_t> ranks;
    for (size_t i = 0; i < runs_.size(); ++i)
        for (uint32_t k = 0; runs_[i].node == node && k < runs_[i].ranks; ++k) ranks.push_back(first_[i] + k);
    return ranks;
}

RankRanges NodeMap::ranks_of_nodes(uint32_t first, uint32_t end) const {
    RankRanges ranks;
    for (size_t i = 0; i < runs_.size(); ++i)
        if (runs_[i].node >= first && runs_[i].node < end && runs_[i].ranks > 0)
            ranks.add(first_[i], first_[i] + runs_[i].ranks - 1);
    return ranks;
}

uint32_t NodeMap::node_of(uint32_t rank) const {
    const auto after = std::upper_bound(first_.begin(), first_.end(), rank);
    return runs_[static_cast<size_t>(after - first_.begin()) - 1].node;
}

std::vector<uint32_t> NodeMap::nodes() const {
    std::vector<uint32_t> all;
    for (const NodeRun& run : runs_) all.push_back(run.node);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

NodeMap NodeMap::dense() const {
    const std::vector<uint32_t> used = nodes();
    std::vector<NodeRun> runs = runs_;
    for (NodeRun& run : runs)
        run.node = static_cast<uint32_t>(std::lower_bound(used.begin(), used.end(), run.node) - used.begin());
    return NodeMap(std::move(runs));
}

bool NodeMap::has_ranks(uint32_t first_node, uint32_t end_node) const {
    return std::any_of(runs_.begin(), runs_.end(),
                       [&](const NodeRun& run) { return run.node >= first_node && run.node < end_node; });
}

std::string NodeMap::pmi_text() const {
    std::vector<ProcessMapBlock> blocks = blocks_of(runs_);
    // Readers repeat the blocks until every rank has a node: equal blocks are written once, and the last one
    // may be cut.
    const auto repeats = [&](const ProcessMapBlock& b) {
        return b == blocks[0] || (&b == &blocks.back() && b.first == blocks[0].first &&
                                  b.ranks == blocks[0].ranks && b.nodes < blocks[0].nodes);
    };
    if (std::all_of(blocks.begin(), blocks.end(), repeats) && !blocks.empty()) blocks.resize(1, {0, 1, 1});
    std::string text = "(vector";
    for (const ProcessMapBlock& b : blocks)
        text += ",(" + std::to_string(b.first) + "," + std::to_string(b.nodes) + "," +
                std::to_string(b.ranks) + ")";
    return text + ")";
}

bool share_by_speed(std::vector<Host>& hosts, uint32_t ranks) {
    const auto like_first = [&](const Host& h) { return h.speed == hosts[0].speed; };
    if (ranks == 0 || std::ranges::all_of(hosts, like_first)) return false;
    std::vector<mapping::SpeedTarget> targets;
    targets.reserve(hosts.size());
    for (const Host& h : hosts) targets.push_back({h.slots, h.speed});
    const std::vector<uint32_t> share = mapping::shares_by_speed(targets, ranks);
    for (size_t i = 0; i < hosts.size(); ++i) hosts[i].slots = share[i];
    return true;
}

NodeMap map_ranks(std::vector<Host>& hosts, uint32_t ranks, MapBy by) {
    if (share_by_speed(hosts, ranks)) std::erase_if(hosts, [](const Host& h) { return h.slots == 0; });
    uint64_t slots = 0;
    for (Host& h : hosts) slots += h.slots = std::max(h.slots, 1U);
    const auto times = static_cast<uint32_t>((ranks + slots - 1) / slots);
    for (Host& h : hosts) h.slots *= std::max(times, 1U);
    // By slot and by node the hosts with ranks are the first ones.
    const std::vector<NodeRun> runs = by == MapBy::node ? by_node(hosts, ranks) : by_slot(hosts, ranks);
    uint32_t used = 0;
    for (const NodeRun& run : runs) used = std::max(used, run.node + 1);
    hosts.resize(used);
    return NodeMap(runs);
}

} // namespace zipmpi::launch
