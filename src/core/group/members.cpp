// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/group/members.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace zipmpi::core {
namespace {

bool has_constant_stride(const std::vector<int>& ranks) {
    for (size_t i = 2; i < ranks.size(); ++i)
        if (ranks[i] - ranks[i - 1] != ranks[1] - ranks[0]) return false;
    return true;
}

// Index of `world` in a strided set without a table, or -1.
int find_strided(const Members& members, int world) {
    if (members.size() == 0) return -1;
    const int distance = world - members[0];
    const int stride = members.size() > 1 ? members.map().stride() : 1;
    if (distance % stride != 0) return -1;
    const int rank = distance / stride;
    return rank >= 0 && rank < members.size() ? rank : -1;
}

} // namespace

Members::Members(std::vector<int> ranks)
    : size_(static_cast<int>(ranks.size())) {
    if (ranks.empty()) return;
    if (has_constant_stride(ranks))
        map_ = proto::RankMap(ranks[0], size_ > 1 ? ranks[1] - ranks[0] : 1);
    else
        map_ = proto::RankMap(std::make_shared<const std::vector<int>>(std::move(ranks)));
}

int Members::find(int world) const {
    if (map_.strided()) return find_strided(*this, world);
    for (int r = 0; r < size_; ++r)
        if (map_.world(r) == world) return r;
    return -1;
}

bool Members::operator==(const Members& other) const {
    if (size_ != other.size_) return false;
    if (map_.same_as(other.map_)) return true;
    for (int r = 0; r < size_; ++r)
        if (map_.world(r) != other.map_.world(r)) return false;
    return true;
}

RankIndex::RankIndex(const Members& members)
    : members_(members) {
    if (members.map().strided()) return;
    int highest = members[0];
    lowest_ = members[0];
    for (int r = 1; r < members.size(); ++r) {
        lowest_ = std::min(lowest_, members[r]);
        highest = std::max(highest, members[r]);
    }
    constexpr int64_t max_dense_ratio = 8; // entries per member; above, hashing takes less memory
    const int64_t span = int64_t{highest} - lowest_ + 1;
    if (span <= max_dense_ratio * members.size()) {
        dense_.assign(static_cast<size_t>(span), -1);
        for (int r = 0; r < members.size(); ++r) dense_[static_cast<size_t>(members[r] - lowest_)] = r;
    } else {
        sparse_.reserve(static_cast<size_t>(members.size()));
        for (int r = 0; r < members.size(); ++r) sparse_.emplace(members[r], r);
    }
}

int RankIndex::operator[](int world) const {
    if (members_.map().strided()) return find_strided(members_, world);
    if (!dense_.empty()) {
        const int64_t at = int64_t{world} - lowest_;
        return at >= 0 && at < static_cast<int64_t>(dense_.size()) ? dense_[static_cast<size_t>(at)] : -1;
    }
    const auto found = sparse_.find(world);
    return found != sparse_.end() ? found->second : -1;
}

} // namespace zipmpi::core
