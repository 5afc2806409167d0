// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// News of faults in the node segment. One writer, the launcher; lists only grow, so a reader needs no lock.
#include "boot/node_segment.hpp"
#include "os/bell.hpp"
#include "os/futex.hpp"

namespace zipmpi::boot {
namespace {
constexpr auto release = std::memory_order_release;
constexpr auto acquire = std::memory_order_acquire;
} // namespace

void NodeSegment::tell(std::atomic<uint32_t>& count, uint64_t list_offset, uint32_t most,
                       uint32_t entry) const {
    const uint32_t i = count.load(std::memory_order_relaxed);
    const uint64_t offset = list_offset + uint64_t{i} * sizeof entry;
    if (i >= most || !reserve(offset, sizeof entry)) return;
    *at<uint32_t>(offset) = entry;
    count.store(i + 1, release); // pairs with the reader's acquire: the entry is there
    wake_everybody();
}

void NodeSegment::tell_failed(int world_rank) const {
    for (uint32_t local = 0; local < local_ranks(); ++local) {
        if (this->world_rank(local) != world_rank) continue;
        block(local).state.store(static_cast<uint32_t>(wire::RankState::failed), release);
        const uint32_t slept =
            block(local).futex_sleepers.exchange(0) + block(local).descriptor_sleepers.exchange(0);
        asleep().fetch_sub(slept, std::memory_order_relaxed); // nobody wakes these
    }
    auto& news = at<wire::SegmentHeader>(0)->news;
    tell(news.failed, geometry_.failed_offset(), geometry_.world_ranks(), static_cast<uint32_t>(world_rank));
}

void NodeSegment::tell_revoked(uint32_t context) const {
    auto& news = at<wire::SegmentHeader>(0)->news;
    tell(news.revoked, geometry_.revoked_offset(), wire::contexts, context);
}

void NodeSegment::tell_decision(uint32_t local, const Decided& decided) const {
    for (wire::Decision& d : block(local).decisions) {
        if (d.filled.load(acquire) != 0) continue; // pairs with take_decision(): the rank has read it
        d.context = decided.context;
        d.number = decided.number;
        d.flags = decided.flags;
        d.value = decided.value;
        d.failed = decided.failed;
        d.filled.store(1, release);
        return wake_everybody();
    }
}

bool NodeSegment::take_decision(uint32_t local, Decided& decided) const {
    for (wire::Decision& d : block(local).decisions) {
        if (d.filled.load(acquire) == 0 || d.context != decided.context || d.number != decided.number)
            continue;
        decided.flags = d.flags;
        decided.value = d.value;
        decided.failed = d.failed;
        d.filled.store(0, release);
        return true;
    }
    return false;
}

// seq_cst with a sleeper's look at the number after it has said that it sleeps: either it sees the news, or
// this sees it.
void NodeSegment::wake_everybody() const {
    at<wire::SegmentHeader>(0)->news.number.fetch_add(1, std::memory_order_seq_cst);
    os::Bell bell;
    for (uint32_t local = 0; local < local_ranks(); ++local) {
        wire::RankBlock& b = block(local);
        b.wake.fetch_add(1, std::memory_order_seq_cst);
        if (const uint64_t name = b.wake_socket.load(acquire); name != 0) bell.ring(name);
        if (const uint32_t woken = os::futex_wake_all(b.wake); woken != 0)
            asleep().fetch_sub(woken, std::memory_order_relaxed);
    }
}

} // namespace zipmpi::boot
