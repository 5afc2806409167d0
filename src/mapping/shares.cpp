// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/shares.hpp"

#include <functional>
#include <queue>

namespace zipmpi::mapping {

std::vector<uint32_t> shares_by_speed(const std::vector<SpeedTarget>& targets, uint32_t ranks) {
    std::vector<uint32_t> share(targets.size());
    uint64_t slots = 0;
    for (const SpeedTarget& t : targets) slots += t.slots;
    const bool limited = ranks <= slots;
    // The time that a target would need with one rank more; the smallest gets the rank.
    using Entry = std::pair<double, uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
    const auto enter = [&](uint32_t t) {
        const SpeedTarget& target = targets[t];
        if (target.slots == 0 || (limited && share[t] == target.slots)) return;
        next.emplace((share[t] + 1) / (target.slots * target.speed), t);
    };
    for (uint32_t t = 0; t < targets.size(); ++t) enter(t);
    for (; ranks > 0 && !next.empty(); --ranks) {
        const uint32_t t = next.top().second;
        next.pop();
        ++share[t];
        enter(t);
    }
    return share;
}

} // namespace zipmpi::mapping
