// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "binding/handle_form.hpp"

#include <cstdlib>
#include <new>

namespace zipmpi::abi {

core::Object* HandleTable::find_in_block(uint32_t index) const noexcept {
    if (index >= indices_end) return nullptr;
    const Slot* const block = blocks_[index / block_size].load(std::memory_order_acquire);
    return block != nullptr ? block[index % block_size].load(std::memory_order_relaxed) : nullptr;
}

HandleTable::Slot& HandleTable::slot_in_block(uint32_t index) noexcept {
    std::atomic<Slot*>& entry = blocks_[index / block_size];
    Slot* block = entry.load(std::memory_order_acquire);
    if (block != nullptr) return block[index % block_size];
    auto* const made = new (std::nothrow) Slot[block_size]();
    if (made == nullptr) std::abort(); // the operator new of core has reported it
    if (entry.compare_exchange_strong(block, made, std::memory_order_acq_rel))
        return made[index % block_size];
    delete[] made; // another thread was faster
    return block[index % block_size];
}

} // namespace zipmpi::abi
