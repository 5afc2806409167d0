// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// LazyTable: a table of entries of which few are used, for instance one per rank of the node. A large table
// takes memory only for the pages with entries that were written, so a rank with few peers needs as much with
// ten thousand ranks as with a hundred. Access costs as much as that of a vector.
#pragma once

#include "os/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace zipmpi::os {

// Entries start as zero bytes, which must be the value of T{}.
template <class T>
class LazyTable {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= ZeroedMemory::alignment);

  public:
    explicit LazyTable(size_t entries = 0)
        : memory_(entries * sizeof(T))
        , size_(entries) {}

    [[nodiscard]] size_t size() const { return size_; }
    T& operator[](size_t i) { return reinterpret_cast<T*>(memory_.base())[i]; }
    const T& operator[](size_t i) const { return reinterpret_cast<const T*>(memory_.base())[i]; }
    // Adds entries; the others may move.
    void grow(size_t entries) {
        if (entries <= size_) return;
        if (entries * sizeof(T) > memory_.size())
            memory_.grow(std::max(entries * sizeof(T), 2 * memory_.size()));
        size_ = entries;
    }
    // Sets all entries to zero.
    void clear() { memory_.clear(); }

  private:
    ZeroedMemory memory_;
    size_t size_;
};

} // namespace zipmpi::os
