// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/kernels.hpp"

#include <map>

namespace zipmpi::launch {

std::vector<NodePart> parts_of(const std::vector<NodeKernel>& nodes) {
    std::map<std::pair<std::string, std::vector<uint32_t>>, std::vector<NodePart>> machines;
    for (const NodeKernel& n : nodes) {
        if (n.boot_id.empty() || n.cpus.empty()) continue;
        std::vector<NodePart>& here = machines[{n.boot_id, n.cpus}];
        const uint32_t before = here.empty() ? 0 : here.back().all; // `all`: so far
        here.push_back({n.node, before, before + n.ranks});
    }
    std::vector<NodePart> parts;
    for (auto& [machine, here] : machines)
        for (const NodePart& p : here)
            if (here.size() > 1) parts.push_back({p.node, p.first, here.back().all});
    return parts;
}

} // namespace zipmpi::launch
