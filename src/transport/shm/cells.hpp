// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cells of one rank's send buffer pool, seen by their owner. A cell goes out with the number of its turn;
// its reader writes that number into the head when it is done. The owner does not ask for each cell: it uses
// up those it knows to be free, and only then looks through all that are out (mark and sweep).
//
// The lines of a cell that comes back lie in its reader's cache, and fetching them is half of what a message
// through a cell costs. An owner that waits has them fetched meanwhile: such a cell is warm.
#pragma once

#include "boot/node_segment.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

namespace zipmpi::transport::shm {

class Cells {
  public:
    Cells(const boot::NodeSegment& segment, uint32_t owner)
        : segment_(segment)
        , owner_(owner) {}

    // A free cell, or -1. none_made: there is not a single one to wait for. Up to `enough` are made before
    // one that has just come back, and is not warm, is used again.
    int take(bool& none_made, size_t enough = 0) {
        if (free_.empty() && !sweep(std::max(enough, first_cells)) && !make()) {
            none_made = made_.empty();
            return -1;
        }
        const uint16_t cell = free_.front();
        free_.pop_front();
        return cell;
    }
    // It is on its way to a reader.
    wire::CellRef send(int cell, size_t bytes, uint32_t reader) {
        const auto index = static_cast<uint16_t>(cell);
        Made& made = made_[index];
        out_.push_back(index);
        made.used = static_cast<uint32_t>(bytes);
        made.warm = 0;
        made.called = false;
        made.reader = static_cast<uint16_t>(reader);
        if (warming_ == cell) warming_ = none;
        return {index, ++made.turn, made.used};
    }
    // At least this many are out with readers, as far as can be seen.
    bool out_at_least(size_t n) {
        if (out_.size() < n) return false;
        collect();
        return out_.size() >= n;
    }
    // Those whom cells have gone out to that have not come back, once for each turn of a cell.
    template <class Call>
    void for_new_readers(const Call& call) {
        for (const uint16_t cell : out_) {
            Made& made = made_[cell];
            if (!std::exchange(made.called, true)) call(made.reader);
        }
    }
    // A reader is gone: what it has not read comes back.
    void take_back_from(uint32_t reader);
    // Taken and not sent.
    void put_back(int cell) { free_.push_front(static_cast<uint16_t>(cell)); }
    [[nodiscard]] bool is_warm(int cell, size_t bytes) const {
        return made_[static_cast<size_t>(cell)].warm >= bytes;
    }

    // A moment without anything else to do: looks whether a cell has come back, or fetches some of its lines.
    void warm() {
        if (warming_ != none)
            fetch_lines();
        else if (!made_.empty())
            look_at_one();
    }

  private:
    // So many are made before the first look at those that are out: each look costs a cache miss.
    static constexpr size_t first_cells = 4;
    static constexpr int none = -1;
    bool sweep(size_t enough);
    void collect();
    bool make();
    [[nodiscard]] bool is_back(uint16_t cell) const;
    void look_at_one();
    void fetch_lines();

    const boot::NodeSegment& segment_;
    uint32_t owner_;
    struct Made {
        uint16_t turn = 0; // the number of its last one
        uint16_t reader = 0;
        bool called = false; // for_new_readers() has named the reader of this turn
        uint32_t used = 0;   // bytes in it at that turn
        uint32_t warm = 0;   // bytes of it whose lines were fetched since
    };
    std::vector<Made> made_;    // by number of the cell
    std::deque<uint16_t> free_; // known to be free, longest free first
    std::vector<uint16_t> out_;
    size_t looked_at_ = 0; // in out_, then in free_
    int warming_ = none;   // the cell whose lines are being fetched
};

} // namespace zipmpi::transport::shm
