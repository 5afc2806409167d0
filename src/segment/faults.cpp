// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fault notifications and node information in the node segment. Faults have one writer, the launcher; the
// lists only grow, so readers need no lock. Node information is published by ranks.
#include "os/futex.hpp"
#include "os/wakeup_socket.hpp"
#include "segment/node_segment.hpp"

namespace zipmpi::segment {
namespace {
constexpr auto release = std::memory_order_release;
constexpr auto acquire = std::memory_order_acquire;
} // namespace

void NodeSegment::append_fault(std::atomic<uint32_t>& count, uint64_t list_offset, uint32_t most,
                               uint32_t entry) const {
    const uint32_t i = count.load(std::memory_order_relaxed);
    const uint64_t offset = list_offset + uint64_t{i} * sizeof entry;
    if (i >= most || !reserve(offset, sizeof entry)) return;
    *at<uint32_t>(offset) = entry;
    count.store(i + 1, release); // pairs with the reader's acquire load: the entry is written
    notify_faults();
}

void NodeSegment::publish_failed(int world_rank) const {
    for (uint32_t local = 0; local < local_ranks(); ++local) {
        if (this->world_rank(local) != world_rank) continue;
        block(local).state.store(static_cast<uint32_t>(wire::RankState::failed), release);
        const uint32_t slept =
            block(local).futex_sleepers.exchange(0) + block(local).descriptor_sleepers.exchange(0);
        asleep().fetch_sub(slept, std::memory_order_relaxed); // no process wakes these threads
    }
    auto& faults = at<wire::SegmentHeader>(0)->fault_state;
    append_fault(faults.failed, geometry_.failed_offset(), geometry_.world_ranks(),
                 static_cast<uint32_t>(world_rank));
}

void NodeSegment::publish_revoked(uint32_t context) const {
    auto& faults = at<wire::SegmentHeader>(0)->fault_state;
    append_fault(faults.revoked, geometry_.revoked_offset(), wire::contexts, context);
}

bool NodeSegment::fill_agreement_slot(uint32_t local, const AgreementResult& decided) const {
    for (wire::AgreementSlot& d : block(local).agreements) {
        if (d.filled.load() != 0) continue; // pairs with take_agreement(): the rank has read it
        d.context = decided.context;
        d.number = decided.number;
        d.flags = decided.flags;
        d.value = decided.value;
        d.failed = decided.failed;
        d.filled.store(1, release);
        notify_faults();
        return true;
    }
    return false;
}

// seq_cst: the rank frees a slot before it checks agreement_overflow; either it sees the flag, or the second
// attempt sees the free slot.
bool NodeSegment::publish_agreement(uint32_t local, const AgreementResult& decided) const {
    if (fill_agreement_slot(local, decided)) return true;
    block(local).agreement_overflow.store(1);
    return fill_agreement_slot(local, decided);
}

bool NodeSegment::take_agreement(uint32_t local, AgreementResult& decided) const {
    for (wire::AgreementSlot& d : block(local).agreements) {
        if (d.filled.load(acquire) == 0) continue;
        decided = {d.context, d.number, d.flags, d.value, d.failed};
        d.filled.store(0);
        return true;
    }
    return false;
}

bool NodeSegment::take_agreement_overflow(uint32_t local) const {
    return block(local).agreement_overflow.load() != 0 && block(local).agreement_overflow.exchange(0) != 0;
}

// seq_cst: a rank announces its sleep before it checks the generation; either it sees the notification, or
// wake_all() sees the sleeper.
void NodeSegment::notify_faults() const {
    auto& h = *at<wire::SegmentHeader>(0);
    h.fault_state.generation.fetch_add(1, std::memory_order_seq_cst);
    wake_all();
    os::futex_wake_all(h.devices_state); // wait_for_devices()
}

// seq_cst: pairs with await_node_info(). A rank woken for other information calls await_node_info() again.
void NodeSegment::notify_node_info() const {
    if (node_info().awaited.load(std::memory_order_seq_cst) == 0) return;
    node_info().awaited.store(0, std::memory_order_seq_cst);
    wake_all();
}

void NodeSegment::wake_all() const {
    os::WakeupSocket wakeup;
    for (uint32_t local = 0; local < local_ranks(); ++local) {
        wire::RankBlock& b = block(local);
        b.wake.fetch_add(1, std::memory_order_seq_cst);
        if (const uint64_t name = b.wake_socket.load(acquire); name != 0) wakeup.notify(name);
        if (const uint32_t woken = os::futex_wake_all(b.wake); woken != 0)
            asleep().fetch_sub(woken, std::memory_order_relaxed);
    }
}

} // namespace zipmpi::segment
