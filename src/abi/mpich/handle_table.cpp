// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "binding/handle_form.hpp"

#include <cstdlib>
#include <new>

namespace zipmpi::abi {

HandleTable::Slot* HandleTable::add_block(uint32_t number) noexcept {
    auto* const made = new (std::nothrow) Slot[block_size]();
    if (made == nullptr) std::abort(); // the operator new of core has reported it
    Slot* expected = nullptr;
    if (blocks_[number].compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return made;
    delete[] made; // another thread was faster
    return expected;
}

} // namespace zipmpi::abi
