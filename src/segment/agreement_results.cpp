// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "segment/agreement_results.hpp"

#include "segment/node_segment.hpp"

namespace zipmpi::segment {

bool AgreementResults::publish_in_free_slot(uint32_t local, const AgreementResult& decided) const {
    for (wire::AgreementSlot& d : segment_.block(local).agreements) {
        if (d.filled.load() != 0) continue; // pairs with take(): the rank has read it
        d.context = decided.context;
        d.number = decided.number;
        d.flags = decided.flags;
        d.value = decided.value;
        d.failed = decided.failed;
        d.filled.store(1, std::memory_order_release);
        return true;
    }
    return false;
}

// seq_cst: the rank frees a slot before it checks agreement_overflow; either it sees the flag, or the second
// attempt sees the free slot.
bool AgreementResults::publish(uint32_t local, const AgreementResult& decided) const {
    if (publish_in_free_slot(local, decided)) return true;
    segment_.block(local).agreement_overflow.store(1);
    return publish_in_free_slot(local, decided);
}

bool AgreementResults::take(uint32_t local, AgreementResult& decided) const {
    for (wire::AgreementSlot& d : segment_.block(local).agreements) {
        if (d.filled.load(std::memory_order_acquire) == 0) continue;
        decided = {d.context, d.number, d.flags, d.value, d.failed};
        d.filled.store(0);
        return true;
    }
    return false;
}

bool AgreementResults::take_overflow(uint32_t local) const {
    std::atomic<uint32_t>& overflow = segment_.block(local).agreement_overflow;
    return overflow.load() != 0 && overflow.exchange(0) != 0;
}

} // namespace zipmpi::segment
