// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/cell_pool.hpp"

#include "os/clock.hpp"

#include <algorithm>

namespace zipmpi::transport::shm {

bool CellPool::sweep(size_t enough) {
    if (cells_.size() < enough && create()) return true;
    collect();
    return !free_.empty();
}

void CellPool::collect() {
    const auto was_released = [this](uint16_t cell) {
        if (!is_released(cell)) return false;
        free_.push_back(cell);
        return true;
    };
    in_use_.erase(std::remove_if(in_use_.begin(), in_use_.end(), was_released), in_use_.end());
}

void CellPool::reclaim_from(uint32_t reader) {
    for (const uint16_t cell : in_use_)
        if (cells_[cell].reader == reader)
            reinterpret_cast<wire::CellHead*>(segment_.cell(owner_, cell))
                ->released.store(cells_[cell].generation, std::memory_order_release);
}

bool CellPool::is_released(uint16_t cell) const {
    // Pairs with the reader's store in SlotReader::release_cell(): the reader is done with the data.
    // seq_cst because it is also the final check after arm().
    const auto* head = reinterpret_cast<const wire::CellHead*>(segment_.cell(owner_, cell));
    return head->released.load(std::memory_order_seq_cst) == cells_[cell].generation;
}

void CellPool::check_one() {
    if (++check_pos_ >= cells_.size()) check_pos_ = 0;
    if (check_pos_ < in_use_.size()) {
        const uint16_t cell = in_use_[check_pos_];
        if (!is_released(cell)) return;
        in_use_.erase(in_use_.begin() + static_cast<ptrdiff_t>(check_pos_));
        free_.push_back(cell);
        prefetching_ = cell;
    } else if (const size_t i = check_pos_ - in_use_.size(); i < free_.size()) {
        if (cells_[free_[i]].prefetched < cells_[free_[i]].used) prefetching_ = free_[i];
    }
}

void CellPool::prefetch_lines() {
    constexpr int lines_at_a_time = 8; // bounds the delay of the message that the owner waits for
    CellState& made = cells_[static_cast<size_t>(prefetching_)];
    const std::byte* const bytes =
        segment_.cell(owner_, static_cast<uint32_t>(prefetching_)) + wire::cache_line;
    for (int i = 0; i < lines_at_a_time && made.prefetched < made.used;
         ++i, made.prefetched += wire::cache_line)
        os::prefetch_for_write(bytes + made.prefetched);
    if (made.prefetched >= made.used) prefetching_ = none;
}

bool CellPool::create() {
    const wire::Geometry& g = segment_.geometry();
    const auto cell = static_cast<uint32_t>(cells_.size());
    if (cell >= g.cells_per_rank || !segment_.reserve(g.cell_offset(owner_, cell), g.cell_stride()))
        return false;
    cells_.emplace_back();
    free_.push_back(static_cast<uint16_t>(cell));
    return true;
}

} // namespace zipmpi::transport::shm
