// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Values by handle, in a table of fixed size with linear probing: bounded memory, no allocation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zipmpi::trace {

template <class Value, size_t capacity>
class HandleTable {
    static_assert((capacity & (capacity - 1)) == 0);

  public:
    [[nodiscard]] Value* find(uintptr_t key) noexcept {
        for (size_t at = slot_of(key); slots_[at].used; at = next(at))
            if (slots_[at].key == key) return &slots_[at].value;
        return nullptr;
    }

    // The value of the key, which is inserted if it is missing; null if the table is full.
    Value* insert(uintptr_t key) noexcept {
        size_t at = slot_of(key);
        for (; slots_[at].used; at = next(at))
            if (slots_[at].key == key) return &slots_[at].value;
        if (size_ >= capacity / 4 * 3) return nullptr;
        ++size_;
        slots_[at] = {key, true, {}};
        return &slots_[at].value;
    }

    void erase(uintptr_t key) noexcept {
        size_t hole = slot_of(key);
        for (; slots_[hole].key != key || !slots_[hole].used; hole = next(hole))
            if (!slots_[hole].used) return;
        --size_;
        for (size_t at = next(hole); slots_[at].used; at = next(at))
            if (((at - slot_of(slots_[at].key)) & (capacity - 1)) >= ((at - hole) & (capacity - 1))) {
                slots_[hole] = slots_[at];
                hole = at;
            }
        slots_[hole].used = false;
    }

    [[nodiscard]] size_t size() const noexcept { return size_; }

  private:
    struct Slot {
        uintptr_t key;
        bool used;
        Value value;
    };

    static size_t next(size_t at) noexcept { return (at + 1) & (capacity - 1); }
    static size_t slot_of(uintptr_t key) noexcept {
        return (uint64_t{key} * 0x9e3779b97f4a7c15U >> 32) & (capacity - 1);
    }

    Slot slots_[capacity] = {};
    size_t size_ = 0;
};

} // namespace zipmpi::trace
