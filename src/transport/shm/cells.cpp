// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/cells.hpp"

#include <algorithm>
#include <functional>

namespace zipmpi::transport::shm {

bool Cells::sweep() {
    if (turns_.size() < first_cells && make()) return true;
    collect();
    return !free_.empty();
}

void Cells::collect() {
    free_.erase(free_.begin(), free_.begin() + static_cast<ptrdiff_t>(next_free_));
    next_free_ = 0;
    const auto is_out = [this](uint16_t cell) {
        // Pairs with the reader's store in Transport::release_cell(): it is done with the bytes. seq_cst
        // because this is also the last look after arm().
        const auto* head = reinterpret_cast<const wire::CellHead*>(segment_.cell(owner_, cell));
        if (head->released.load(std::memory_order_seq_cst) != turns_[cell]) return true;
        free_.push_back(cell);
        return false;
    };
    out_.erase(std::remove_if(out_.begin(), out_.end(), std::not_fn(is_out)), out_.end());
}

bool Cells::make() {
    const wire::Geometry& g = segment_.geometry();
    const auto cell = static_cast<uint32_t>(turns_.size());
    if (cell >= g.cells_per_rank || !segment_.reserve(g.cell_offset(owner_, cell), g.cell_stride()))
        return false;
    turns_.push_back(0);
    free_.assign(1, static_cast<uint16_t>(cell));
    next_free_ = 0;
    return true;
}

} // namespace zipmpi::transport::shm
