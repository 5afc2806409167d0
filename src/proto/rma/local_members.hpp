// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The members of a window on this node, numbered in the order of their ranks: each has state in the node
// segment. Takes no memory by the number of all members if the ranks of the node are consecutive.
#pragma once

#include "os/lazy_table.hpp"
#include "proto/team.hpp"

#include <vector>

namespace zipmpi::proto::rma {

class LocalMembers {
  public:
    explicit LocalMembers(const Team& team);

    [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }
    [[nodiscard]] uint32_t count() const { return static_cast<uint32_t>(ranks_.size()); }
    [[nodiscard]] bool contains(int rank) const { return number_of(rank) < count(); }
    // count() or more for a member on another node.
    [[nodiscard]] uint32_t number_of(int rank) const {
        if (consecutive_) [[likely]]
            return static_cast<uint32_t>(rank) - first_;
        return numbers_[static_cast<size_t>(rank)] - 1;
    }

  private:
    std::vector<int> ranks_;
    uint32_t first_ = 0;
    bool consecutive_ = true;
    os::LazyTable<uint32_t> numbers_; // unless consecutive: by rank, plus 1; 0: on another node
};

} // namespace zipmpi::proto::rma
