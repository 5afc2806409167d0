// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/core_shares.hpp"

#include <algorithm>
#include <numeric>

namespace zipmpi::launch {
namespace {

constexpr Unit from_large_to_small[] = {Unit::socket, Unit::numa, Unit::l3cache, Unit::l2cache, Unit::core};

// Each group gets at least one rank and at most one per core.
std::vector<uint32_t> apportion(uint32_t ranks, const std::vector<CoreIndices>& groups) {
    std::vector<uint32_t> counts(groups.size(), 1);
    for (auto left = ranks - static_cast<uint32_t>(groups.size()); left > 0; --left) {
        size_t best = 0;
        double most = 0;
        for (size_t g = 0; g < groups.size(); ++g) {
            const double cores_per_rank = static_cast<double>(groups[g].size()) / (counts[g] + 1);
            if (counts[g] < groups[g].size() && cores_per_rank > most) {
                most = cores_per_rank;
                best = g;
            }
        }
        ++counts[best];
    }
    return counts;
}

void divide_cores(const std::vector<hwtopo::Locality>& cores, const CoreIndices& members, uint32_t ranks,
                  size_t level, std::vector<CoreIndices>& out) {
    if (ranks == 1) return out.push_back(members);
    std::vector<CoreIndices> groups;
    while (groups.size() < 2 && level < std::size(from_large_to_small))
        groups = group_by_unit(cores, members, from_large_to_small[level++]);
    if (groups.size() < 2) { // the cores do not differ
        groups.clear();
        for (const uint32_t c : members) groups.push_back({c});
    }
    if (ranks >= groups.size()) {
        const std::vector<uint32_t> counts = apportion(ranks, groups);
        for (size_t g = 0; g < groups.size(); ++g) divide_cores(cores, groups[g], counts[g], level, out);
        return;
    }
    size_t next = 0;
    for (uint32_t r = 0; r < ranks; ++r) { // whole groups for each rank; the first ranks get one more
        CoreIndices share;
        const size_t take = groups.size() / ranks + (r < groups.size() % ranks ? 1 : 0);
        for (size_t i = 0; i < take; ++i, ++next)
            share.insert(share.end(), groups[next].begin(), groups[next].end());
        out.push_back(std::move(share));
    }
}

} // namespace

std::vector<CoreIndices> divide_into_shares(const std::vector<hwtopo::Locality>& cores, uint32_t ranks) {
    CoreIndices all(cores.size());
    std::iota(all.begin(), all.end(), 0U);
    std::vector<CoreIndices> out;
    divide_cores(cores, all, ranks, 0, out);
    return out;
}

std::vector<CoreIndices> core_blocks_for(const HostCores& cores, uint32_t ranks, uint32_t each) {
    const bool memories_in_sockets = count_units(cores, Unit::numa) >= count_units(cores, Unit::socket);
    for (const Unit unit : {memories_in_sockets ? Unit::numa : Unit::socket,
                            memories_in_sockets ? Unit::socket : Unit::numa, Unit::node}) {
        std::vector<CoreIndices> blocks;
        for (const CoreIndices& group : group_by_unit(cores.localities, all_core_indices(cores), unit))
            for (size_t c = 0; c + each <= group.size(); c += each) {
                const auto at = group.begin() + static_cast<long>(c);
                blocks.emplace_back(at, at + each);
            }
        if (blocks.size() >= ranks) return blocks;
    }
    return {};
}

} // namespace zipmpi::launch
