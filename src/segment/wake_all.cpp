// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "segment/wake_all.hpp"

#include "os/futex.hpp"
#include "os/wakeup_socket.hpp"
#include "segment/node_segment.hpp"

namespace zipmpi::segment {

void wake_all(const NodeSegment& segment) {
    os::WakeupSocket wakeup;
    for (uint32_t local = 0; local < segment.local_ranks(); ++local) {
        wire::RankBlock& b = segment.block(local);
        b.wake.fetch_add(1, std::memory_order_seq_cst);
        if (const uint64_t name = b.wake_socket.load(std::memory_order_acquire); name != 0)
            wakeup.notify(name);
        if (const uint32_t woken = os::futex_wake_all(b.wake); woken != 0)
            segment.asleep().fetch_sub(woken, std::memory_order_relaxed);
    }
}

} // namespace zipmpi::segment
