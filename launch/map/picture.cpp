// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/picture.hpp"

#include <algorithm>

namespace zipmpi::launch {
namespace {

std::string joined(const std::vector<int>& numbers, const char* between) {
    std::string text;
    for (const int n : numbers) text += (text.empty() ? "" : between) + std::to_string(n);
    return text;
}

std::vector<int> ranks_on(const HostPicture& host, const CpuList& core) {
    std::vector<int> ranks;
    for (size_t i = 0; i < host.placed.size(); ++i)
        if (std::find(host.placed[i].begin(), host.placed[i].end(), core[0]) != host.placed[i].end())
            ranks.push_back(static_cast<int>(host.ranks[i]));
    return ranks;
}

std::string named(const std::vector<int>& ranks) {
    if (ranks.empty()) return "-";
    return (ranks.size() == 1 ? "rank " : "ranks ") + joined(ranks, " ");
}

} // namespace

std::string picture(const HostPicture& host) {
    std::string text = "node " + std::to_string(host.node) + ", " + host.name +
                       (host.clusters.empty() ? "" : ", cluster " + host.clusters) + "\n";
    std::vector<uint16_t> sockets = host.sockets;
    std::sort(sockets.begin(), sockets.end());
    sockets.erase(std::unique(sockets.begin(), sockets.end()), sockets.end());
    for (const uint16_t socket : sockets) {
        text += "  socket " + std::to_string(socket) + ":";
        const char* between = " ";
        for (size_t c = 0; c < host.cores.size(); ++c) {
            if (host.sockets[c] != socket) continue;
            text += between + ("core " + std::to_string(c)) + " (cpu " + joined(host.cores[c], ",") + ") " +
                    named(ranks_on(host, host.cores[c]));
            between = " | ";
        }
        text += "\n";
    }
    std::vector<int> anywhere;
    for (size_t i = 0; i < host.placed.size(); ++i)
        if (host.placed[i].empty()) anywhere.push_back(static_cast<int>(host.ranks[i]));
    if (!anywhere.empty()) text += "  any core: " + named(anywhere) + "\n";
    return text;
}

} // namespace zipmpi::launch
