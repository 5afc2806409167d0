// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/slot_reader.hpp"

namespace zipmpi::transport::shm {

bool SlotReader::is_valid(const wire::Envelope& envelope, const wire::CellRef& ref) const {
    const wire::Geometry& g = own_.segment.geometry();
    return envelope.inline_bytes <= wire::inline_max_with_cell && ref.cell < g.cells_per_rank &&
           ref.bytes <= g.cell_bytes;
}

// The caller has validated the reference.
void SlotReader::release_cell(Peer owner, const wire::CellRef& ref) {
    auto* head = reinterpret_cast<wire::CellHead*>(own_.segment.cell(owner, ref.cell));
    wire::RankBlock& block = own_.segment.block(owner);
    // As in SendRings::publish(), paired with the owner's arm(): either the owner sees the free cell, or we
    // see that it waits.
    if (own_.peer_executes_barrier(block))
        head->released.store(ref.generation, std::memory_order_release);
    else
        head->released.store(ref.generation, std::memory_order_seq_cst);
    if (block.waits_for_cell.load(std::memory_order_seq_cst) != 0) {
        block.waits_for_cell.store(0, std::memory_order_relaxed);
        wakeups_.wake(block);
    }
}

} // namespace zipmpi::transport::shm
