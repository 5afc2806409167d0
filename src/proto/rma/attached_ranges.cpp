// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/attached_ranges.hpp"

#include <algorithm>

namespace zipmpi::proto::rma {

bool AttachedRanges::attach(uint64_t base, uint64_t size) {
    for (const Range& r : ranges_)
        if (base < r.base + r.size && r.base < base + size) return false;
    ranges_.push_back({base, size});
    return true;
}

bool AttachedRanges::detach(uint64_t base) {
    const auto at = std::ranges::find(ranges_, base, &Range::base);
    if (at == ranges_.end()) return false;
    ranges_.erase(at);
    return true;
}

bool AttachedRanges::contains(uint64_t base, uint64_t size) const {
    while (size > 0) {
        const auto at = std::ranges::find_if(
            ranges_, [&](const Range& r) { return base >= r.base && base - r.base < r.size; });
        if (at == ranges_.end()) return false;
        const uint64_t covered = std::min(size, at->size - (base - at->base));
        base += covered;
        size -= covered;
    }
    return true;
}

} // namespace zipmpi::proto::rma
