// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An immutable ordered set of processes, by world rank. Copies and the communicators created from it share
// its tables.
#pragma once

#include "proto/team.hpp"

#include <unordered_map>
#include <utility>
#include <vector>

namespace zipmpi::core {

class Members {
  public:
    Members() = default;
    Members(proto::RankMap map, int size)
        : map_(std::move(map))
        , size_(size) {}
    // Ranks at a constant stride are stored without a table.
    explicit Members(std::vector<int> ranks);

    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] int operator[](int rank) const { return map_.world(rank); }
    [[nodiscard]] const proto::RankMap& map() const { return map_; }
    // The rank of a world rank, or -1 if it is not a member. Linear time; use RankIndex for many lookups.
    [[nodiscard]] int find(int world) const;
    // True if both have equal processes in equal order.
    [[nodiscard]] bool operator==(const Members& other) const;

  private:
    proto::RankMap map_;
    int size_ = 0;
};

// Maps world rank to member rank in constant time. Construction is linear in the number of members.
class RankIndex {
  public:
    explicit RankIndex(const Members& members);
    [[nodiscard]] int operator[](int world) const; // -1: not a member

  private:
    const Members& members_;
    int lowest_ = 0;
    std::vector<int> dense_; // by world rank minus the lowest one; -1: not a member
    std::unordered_map<int, int> sparse_;
};

} // namespace zipmpi::core
