// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// News of faults in the node segment. One writer, the launcher; lists only grow, so a reader needs no lock.
// Facts about the node are told by ranks.
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
    tell_news();
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

bool NodeSegment::fill_slot(uint32_t local, const Decided& decided) const {
    for (wire::Decision& d : block(local).decisions) {
        if (d.filled.load() != 0) continue; // pairs with take_decision(): the rank has read it
        d.context = decided.context;
        d.number = decided.number;
        d.flags = decided.flags;
        d.value = decided.value;
        d.failed = decided.failed;
        d.filled.store(1, release);
        tell_news();
        return true;
    }
    return false;
}

// seq_cst with the rank, which frees a slot before it asks for more: either it sees the wish, or this sees
// the free slot.
bool NodeSegment::tell_decision(uint32_t local, const Decided& decided) const {
    if (fill_slot(local, decided)) return true;
    block(local).more_decisions.store(1);
    return fill_slot(local, decided);
}

bool NodeSegment::take_decision(uint32_t local, Decided& decided) const {
    for (wire::Decision& d : block(local).decisions) {
        if (d.filled.load(acquire) == 0) continue;
        decided = {d.context, d.number, d.flags, d.value, d.failed};
        d.filled.store(0);
        return true;
    }
    return false;
}

bool NodeSegment::has_more_decisions(uint32_t local) const {
    return block(local).more_decisions.load() != 0 && block(local).more_decisions.exchange(0) != 0;
}

// seq_cst with a sleeper's look at the number after it has said that it sleeps: either it sees the news, or
// this sees it.
void NodeSegment::tell_news() const {
    auto& h = *at<wire::SegmentHeader>(0);
    h.news.number.fetch_add(1, std::memory_order_seq_cst);
    wake_everybody();
    os::futex_wake_all(h.devices_state); // wait_for_devices()
}

// seq_cst with await_facts() in the same way. Who is woken for another fact sleeps again, and says so again.
void NodeSegment::tell_facts() const {
    if (facts().awaited.load(std::memory_order_seq_cst) == 0) return;
    facts().awaited.store(0, std::memory_order_seq_cst);
    wake_everybody();
}

void NodeSegment::wake_everybody() const {
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
