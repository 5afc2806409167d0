// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/placement.hpp"

#include <algorithm>

namespace zipmpi::launch {

bool wants_binding(const PlacementRequest& request) {
    if (request.mode == BindMode::core) return true;
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

} // namespace zipmpi::launch
