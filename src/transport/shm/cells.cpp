// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/cells.hpp"

#include "os/clock.hpp"

#include <algorithm>

namespace zipmpi::transport::shm {

bool Cells::sweep(size_t enough) {
    if (made_.size() < enough && make()) return true;
    collect();
    return !free_.empty();
}

void Cells::collect() {
    const auto came_back = [this](uint16_t cell) {
        if (!is_back(cell)) return false;
        free_.push_back(cell);
        return true;
    };
    out_.erase(std::remove_if(out_.begin(), out_.end(), came_back), out_.end());
}

void Cells::take_back_from(uint32_t reader) {
    for (const uint16_t cell : out_)
        if (made_[cell].reader == reader)
            reinterpret_cast<wire::CellHead*>(segment_.cell(owner_, cell))
                ->released.store(made_[cell].turn, std::memory_order_release);
}

bool Cells::is_back(uint16_t cell) const {
    // Pairs with the reader's store in Transport::release_cell(): it is done with the bytes. seq_cst because
    // this is also the last look after arm().
    const auto* head = reinterpret_cast<const wire::CellHead*>(segment_.cell(owner_, cell));
    return head->released.load(std::memory_order_seq_cst) == made_[cell].turn;
}

void Cells::look_at_one() {
    if (++looked_at_ >= made_.size()) looked_at_ = 0;
    if (looked_at_ < out_.size()) {
        const uint16_t cell = out_[looked_at_];
        if (!is_back(cell)) return;
        out_.erase(out_.begin() + static_cast<ptrdiff_t>(looked_at_));
        free_.push_back(cell);
        warming_ = cell;
    } else if (const size_t i = looked_at_ - out_.size(); i < free_.size()) {
        if (made_[free_[i]].warm < made_[free_[i]].used) warming_ = free_[i];
    }
}

void Cells::fetch_lines() {
    constexpr int lines_at_a_time = 8; // the message that its owner waits for must not wait long
    Made& made = made_[static_cast<size_t>(warming_)];
    const std::byte* const bytes = segment_.cell(owner_, static_cast<uint32_t>(warming_)) + wire::line_size;
    for (int i = 0; i < lines_at_a_time && made.warm < made.used; ++i, made.warm += wire::line_size)
        os::prefetch_to_write(bytes + made.warm);
    if (made.warm >= made.used) warming_ = none;
}

bool Cells::make() {
    const wire::Geometry& g = segment_.geometry();
    const auto cell = static_cast<uint32_t>(made_.size());
    if (cell >= g.cells_per_rank || !segment_.reserve(g.cell_offset(owner_, cell), g.cell_stride()))
        return false;
    made_.emplace_back();
    free_.push_back(static_cast<uint16_t>(cell));
    return true;
}

} // namespace zipmpi::transport::shm
