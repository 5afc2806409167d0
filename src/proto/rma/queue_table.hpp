// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// QueueTable: queues of active messages by rank, of which few are used. Takes memory for those, and for the
// pages of the table that refer to them. Used by AmOrigin and AmTarget.
#pragma once

#include "os/lazy_table.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace zipmpi::proto::rma {

template <class Queue>
class QueueTable {
  public:
    explicit QueueTable(int ranks)
        : by_rank_(static_cast<size_t>(ranks)) {}

    [[nodiscard]] Queue* find(int rank) const { return by_rank_[static_cast<size_t>(rank)]; }
    Queue& add(int rank, std::unique_ptr<Queue> queue) {
        by_rank_[static_cast<size_t>(rank)] = queue.get();
        queues_.push_back(std::move(queue));
        return *queues_.back();
    }
    // In the order in which they were added. `visit` may wait, and queues may be added meanwhile.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (size_t i = 0; i < queues_.size(); ++i) visit(*queues_[i]);
    }

  private:
    os::LazyTable<Queue*> by_rank_; // null: not used
    std::vector<std::unique_ptr<Queue>> queues_;
};

} // namespace zipmpi::proto::rma
