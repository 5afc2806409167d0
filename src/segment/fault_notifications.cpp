// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "segment/fault_notifications.hpp"

#include "os/futex.hpp"
#include "segment/node_segment.hpp"
#include "segment/wake_all.hpp"

namespace zipmpi::segment {
namespace {
constexpr auto release = std::memory_order_release;
} // namespace

bool FaultNotifications::reserve_entry(const uint32_t* entry) const {
    const auto offset = reinterpret_cast<uintptr_t>(entry) - reinterpret_cast<uintptr_t>(&header_);
    return segment_.reserve(offset, sizeof *entry);
}

void FaultNotifications::append(std::atomic<uint32_t>& count, uint32_t* list, uint32_t most,
                                uint32_t entry) const {
    const uint32_t i = count.load(std::memory_order_relaxed);
    if (i >= most || !reserve_entry(list + i)) return;
    list[i] = entry;
    count.store(i + 1, release); // pairs with the reader's acquire load: the entry is written
}

void FaultNotifications::mark_failed(uint32_t local) const {
    wire::RankBlock& block = segment_.block(local);
    block.state.store(static_cast<uint32_t>(wire::RankState::failed), release);
    const uint32_t slept = block.futex_sleepers.exchange(0) + block.descriptor_sleepers.exchange(0);
    segment_.asleep().fetch_sub(slept, std::memory_order_relaxed); // no process wakes these threads
}

void FaultNotifications::publish_failed(int world_rank) const {
    for (uint32_t local = 0; local < segment_.local_ranks(); ++local)
        if (segment_.world_rank(local) == world_rank) mark_failed(local);
    append(header_.fault_state.failed, failed_, segment_.geometry().world_ranks(),
           static_cast<uint32_t>(world_rank));
}

void FaultNotifications::publish_revoked(uint32_t context) const {
    append(header_.fault_state.revoked, revoked_, wire::contexts, context);
}

// seq_cst: a rank announces its sleep before it checks the generation; either it sees the notification, or
// wake_all() sees the sleeper.
void FaultNotifications::notify() const {
    header_.fault_state.generation.fetch_add(1, std::memory_order_seq_cst);
    wake_all(segment_);
    os::futex_wake_all(header_.devices_state); // NetworkInformation::wait_for_devices()
}

} // namespace zipmpi::segment
