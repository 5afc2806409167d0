// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/kernel_share.hpp"

#include <map>

namespace zipmpi::launch {

std::vector<KernelShare> kernel_shares(const std::vector<NodeKernel>& nodes) {
    std::map<std::pair<std::string, std::vector<uint32_t>>, std::vector<KernelShare>> machines;
    for (const NodeKernel& n : nodes) {
        if (n.boot_id.empty() || n.cpus.empty()) continue;
        std::vector<KernelShare>& here = machines[{n.boot_id, n.cpus}];
        const uint32_t before = here.empty() ? 0 : here.back().all; // `all` is a running total
        here.push_back({n.node, before, before + n.ranks});
    }
    std::vector<KernelShare> shares;
    for (auto& [machine, here] : machines)
        for (const KernelShare& p : here)
            if (here.size() > 1) shares.push_back({p.node, p.first, here.back().all});
    return shares;
}

} // namespace zipmpi::launch
