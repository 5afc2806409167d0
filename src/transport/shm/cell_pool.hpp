// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cells of one rank's send buffer pool, from the owner's side. Each send of a cell has a generation
// number; the reader stores it in the cell's header when done. The owner uses up the cells known to be free
// before it checks all cells in use (mark and sweep).
//
// The cache lines of a returned cell are in its reader's cache; fetching them is half the cost of a message
// through a cell. A waiting owner prefetches them.
#pragma once

#include "segment/node_segment.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

namespace zipmpi::transport::shm {

class CellPool {
  public:
    CellPool(const segment::NodeSegment& segment, uint32_t owner)
        : segment_(segment)
        , owner_(owner) {}

    // Returns a free cell or -1. pool_empty: the pool has no cell to wait for. Up to `enough` cells are
    // allocated before a just returned, not prefetched cell is reused.
    int acquire(bool& pool_empty, size_t enough = 0) {
        if (free_.empty() && !sweep(std::max(enough, initial_cells)) && !create()) {
            pool_empty = cells_.empty();
            return -1;
        }
        const uint16_t cell = free_.front();
        free_.pop_front();
        return cell;
    }
    // Marks a cell as sent to a reader.
    wire::CellRef send(int cell, size_t bytes, uint32_t reader) {
        const auto index = static_cast<uint16_t>(cell);
        CellState& made = cells_[index];
        in_use_.push_back(index);
        made.used = static_cast<uint32_t>(bytes);
        made.prefetched = 0;
        made.notified = false;
        made.reader = static_cast<uint16_t>(reader);
        if (prefetching_ == cell) prefetching_ = none;
        return {index, ++made.generation, made.used};
    }
    // Whether at least n cells are in use by readers.
    bool in_use_at_least(size_t n) {
        if (in_use_.size() < n) return false;
        collect();
        return in_use_.size() >= n;
    }
    // Calls `call` with the reader of each cell in use, once per generation of the cell.
    template <class Call>
    void for_new_readers(const Call& call) {
        for (const uint16_t cell : in_use_) {
            CellState& made = cells_[cell];
            if (!std::exchange(made.notified, true)) call(made.reader);
        }
    }
    // Reclaims the cells that a failed reader has not read.
    void reclaim_from(uint32_t reader);
    // Returns a cell that was acquired and not sent.
    void return_unsent(int cell) { free_.push_front(static_cast<uint16_t>(cell)); }
    [[nodiscard]] bool is_prefetched(int cell, size_t bytes) const {
        return cells_[static_cast<size_t>(cell)].prefetched >= bytes;
    }

    // Called when idle: checks whether a cell was returned, or prefetches some of its cache lines.
    void prefetch() {
        if (prefetching_ != none)
            prefetch_lines();
        else if (!cells_.empty())
            check_one();
    }

  private:
    // Cells allocated before the pool first checks for returned ones; each check costs a cache miss.
    static constexpr size_t initial_cells = 4;
    static constexpr int none = -1;
    bool sweep(size_t enough);
    void collect();
    bool create();
    [[nodiscard]] bool is_released(uint16_t cell) const;
    void check_one();
    void prefetch_lines();

    const segment::NodeSegment& segment_;
    uint32_t owner_;
    struct CellState {
        uint16_t generation = 0; // of the last send
        uint16_t reader = 0;
        bool notified = false;   // for_new_readers() has reported the reader of this generation
        uint32_t used = 0;       // bytes in this generation
        uint32_t prefetched = 0; // bytes prefetched since the cell was returned
    };
    std::vector<CellState> cells_; // by cell number
    std::deque<uint16_t> free_;    // longest free first
    std::vector<uint16_t> in_use_;
    size_t check_pos_ = 0;   // in in_use_, then in free_
    int prefetching_ = none; // the cell being prefetched
};

} // namespace zipmpi::transport::shm
