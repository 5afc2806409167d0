// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/placement_text.hpp"

#include <algorithm>

namespace zipmpi::launch {
namespace {

std::string join_numbers(const std::vector<int>& numbers, const char* between) {
    std::string text;
    for (const int n : numbers) text += (text.empty() ? "" : between) + std::to_string(n);
    return text;
}

std::vector<int> ranks_on(const HostPlacementView& host, const CpuList& core) {
    std::vector<int> ranks;
    for (size_t i = 0; i < host.rank_cpus.size(); ++i)
        if (std::find(host.rank_cpus[i].begin(), host.rank_cpus[i].end(), core[0]) != host.rank_cpus[i].end())
            ranks.push_back(static_cast<int>(host.ranks[i]));
    return ranks;
}

std::string ranks_label(const std::vector<int>& ranks) {
    if (ranks.empty()) return "-";
    return (ranks.size() == 1 ? "rank " : "ranks ") + join_numbers(ranks, " ");
}

} // namespace

std::string placement_text(const HostPlacementView& host) {
    std::string text = "node " + std::to_string(host.node) + ", " + host.name +
                       (host.clusters.empty() ? "" : ", cluster " + host.clusters) + "\n";
    const std::vector<uint32_t> sockets = unit_indices(host.cores.localities, Unit::socket);
    for (uint32_t socket = 0; socket < count_units(host.cores, Unit::socket); ++socket) {
        text += "  socket " + std::to_string(socket) + ":";
        const char* between = " ";
        for (size_t c = 0; c < host.cores.size(); ++c) {
            if (sockets[c] != socket) continue;
            text += between + ("core " + std::to_string(c)) + " (cpu " +
                    join_numbers(host.cores.cpus[c], ",") + ") " +
                    ranks_label(ranks_on(host, host.cores.cpus[c]));
            between = " | ";
        }
        text += "\n";
    }
    std::vector<int> anywhere;
    for (size_t i = 0; i < host.rank_cpus.size(); ++i)
        if (host.rank_cpus[i].empty()) anywhere.push_back(static_cast<int>(host.ranks[i]));
    if (!anywhere.empty()) text += "  any core: " + ranks_label(anywhere) + "\n";
    return text;
}

} // namespace zipmpi::launch
