// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An ordered set of processes, by their ranks in the job. Constant; tables are shared between copies, and
// with the communicators made of it.
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
    // Ranks at equal distances become a map without a table.
    explicit Members(std::vector<int> ranks);

    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] int operator[](int rank) const { return map_.world(rank); }
    [[nodiscard]] const proto::RankMap& map() const { return map_; }
    // The rank of a process of the job, -1 if it is no member. Takes time: many are looked up with RankIndex.
    [[nodiscard]] int find(int world) const;
    // The same processes in the same order.
    [[nodiscard]] bool operator==(const Members& other) const;

  private:
    proto::RankMap map_;
    int size_ = 0;
};

// Rank in the job -> rank among the members, in constant time. Made in time proportional to the members.
class RankIndex {
  public:
    explicit RankIndex(const Members& members);
    [[nodiscard]] int operator[](int world) const; // -1: no member

  private:
    const Members& members_;
    int lowest_ = 0;
    std::vector<int> dense_; // by rank in the job less the lowest; -1: no member
    std::unordered_map<int, int> sparse_;
};

} // namespace zipmpi::core
