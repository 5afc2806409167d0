// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/mpsc_receiver.hpp"

#include <bit>

namespace zipmpi::transport::shm {

void MpscReceiver::publish_consumed(wire::MpscRing& ring) {
    published_ = consumed_;
    ring.consumed.store(consumed_, std::memory_order_seq_cst);
    if (ring.producers_wait.load(std::memory_order_seq_cst) == 0) return;
    ring.producers_wait.store(0, std::memory_order_seq_cst);
    for (uint32_t w = 0; w < arrival_words(own_.segment); ++w)
        for (uint64_t bits = own_.block.arrival_bitmap[w].exchange(0, std::memory_order_seq_cst); bits != 0;
             bits &= bits - 1) {
            const uint32_t peer = w * 64 + static_cast<uint32_t>(std::countr_zero(bits));
            if (peer < own_.segment.local_ranks()) wakeups_.wake(own_.segment.block(peer));
        }
}

} // namespace zipmpi::transport::shm
