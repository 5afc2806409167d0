// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cells of one rank's send buffer pool, seen by their owner. A cell goes out with the number of its turn;
// its reader writes that number into the head when it is done. The owner does not ask for each cell: it uses
// up those it knows to be free, and only then looks through all that are out (mark and sweep).
#pragma once

#include "boot/node_segment.hpp"

#include <vector>

namespace zipmpi::transport::shm {

class Cells {
  public:
    Cells(const boot::NodeSegment& segment, uint32_t owner)
        : segment_(segment)
        , owner_(owner) {}

    // A free cell, or -1. none_made: there is not a single one to wait for.
    int take(bool& none_made) {
        if (next_free_ == free_.size() && !sweep() && !make()) {
            none_made = turns_.empty();
            return -1;
        }
        return free_[next_free_++];
    }
    // It is on its way to a reader.
    wire::CellRef send(int cell, size_t bytes) {
        const auto index = static_cast<uint16_t>(cell);
        out_.push_back(index);
        return {index, ++turns_[index], static_cast<uint32_t>(bytes)};
    }
    // At least this many are out with readers, as far as can be seen.
    bool out_at_least(size_t n) {
        if (out_.size() < n) return false;
        collect();
        return out_.size() >= n;
    }
    // Taken and not sent.
    void put_back() { --next_free_; }

  private:
    // So many are made before the first look at those that are out: each look costs a cache miss.
    static constexpr size_t first_cells = 4;
    bool sweep();
    void collect();
    bool make();

    const boot::NodeSegment& segment_;
    uint32_t owner_;
    std::vector<uint16_t> turns_; // of each cell made so far: the number of its last turn
    std::vector<uint16_t> free_;  // known to be free, from next_free_ on, longest free first
    size_t next_free_ = 0;
    std::vector<uint16_t> out_;
};

} // namespace zipmpi::transport::shm
