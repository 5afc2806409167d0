// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Joins the parts of a snapshot that hosts send in reply to one request. A part that comes after the next
// request was sent belongs to its own round: a slow host must not be counted twice.
#pragma once

#include "launch/report/snapshot.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace zipmpi::launch {

enum class SnapshotPurpose : uint8_t { report, watch };

class SnapshotRounds {
  public:
    struct Round {
        SnapshotPurpose purpose{};
        Snapshot ranks; // those that have been received so far
    };

    explicit SnapshotRounds(uint32_t world_size)
        : world_size_(world_size) {}

    // Returns the id of the request. Of many rounds that no host completes, the oldest is dropped.
    uint32_t begin(SnapshotPurpose purpose) {
        rounds_[++last_id_].purpose = purpose;
        if (rounds_.size() > most_rounds) rounds_.erase(rounds_.begin());
        return last_id_;
    }
    // Returns the round, with ranks in order, if this part completes it.
    std::optional<Round> add(uint32_t id, const Snapshot& part) {
        const auto found = rounds_.find(id);
        if (found == rounds_.end()) return {};
        Snapshot& ranks = found->second.ranks;
        ranks.insert(ranks.end(), part.begin(), part.end());
        if (ranks.size() < world_size_) return {};
        std::sort(ranks.begin(), ranks.end(),
                  [](const RankSnapshot& a, const RankSnapshot& b) { return a.rank < b.rank; });
        return std::move(rounds_.extract(found).mapped());
    }

  private:
    static constexpr size_t most_rounds = 8;
    uint32_t world_size_;
    uint32_t last_id_ = 0;
    std::map<uint32_t, Round> rounds_; // by id
};

} // namespace zipmpi::launch
