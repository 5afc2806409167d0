// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/placement.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace zipmpi::launch {

bool wants_binding(const PlacementRequest& request) {
    if (request.mode == BindMode::core || request.mode == BindMode::socket) return true;
    return request.mode == BindMode::automatic &&
           uint64_t{request.ranks} * request.cores_per_rank <= request.usable_cores;
}

std::vector<CpuList> place(const PlacementRequest& request, const std::vector<CpuList>& cores) {
    std::vector<CpuList> result(request.ranks);
    const uint64_t wanted = uint64_t{request.ranks} * request.cores_per_rank;
    if (!wants_binding(request) || cores.empty()) return result;
    if (request.mode == BindMode::automatic && wanted > cores.size()) return result;
    uint64_t next = 0;
    for (CpuList& mine : result) {
        for (uint32_t i = 0; i < std::min<uint64_t>(request.cores_per_rank, cores.size()); ++i, ++next) {
            const CpuList& core = cores[next % cores.size()];
            mine.insert(mine.end(), core.begin(), core.end());
        }
        std::sort(mine.begin(), mine.end());
    }
    return result;
}

void take_sockets_in_turn(std::vector<CpuList>& cores, std::vector<uint16_t>& sockets) {
    std::vector<std::pair<uint32_t, size_t>> order; // position within the socket, core
    std::map<uint16_t, uint32_t> seen;
    for (size_t c = 0; c < cores.size(); ++c) order.emplace_back(seen[sockets[c]]++, c);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<CpuList> cores_in_turn;
    std::vector<uint16_t> sockets_in_turn;
    for (const auto& [position, c] : order) {
        cores_in_turn.push_back(std::move(cores[c]));
        sockets_in_turn.push_back(sockets[c]);
    }
    cores = std::move(cores_in_turn);
    sockets = std::move(sockets_in_turn);
}

void widen_to_sockets(std::vector<CpuList>& placed, const std::vector<CpuList>& cores,
                      const std::vector<uint16_t>& sockets) {
    for (CpuList& mine : placed) {
        std::set<uint16_t> touched;
        for (size_t c = 0; c < cores.size(); ++c)
            if (std::find(mine.begin(), mine.end(), cores[c][0]) != mine.end()) touched.insert(sockets[c]);
        mine.clear();
        for (size_t c = 0; c < cores.size(); ++c)
            if (touched.count(sockets[c]) > 0) mine.insert(mine.end(), cores[c].begin(), cores[c].end());
        std::sort(mine.begin(), mine.end());
    }
}

} // namespace zipmpi::launch
