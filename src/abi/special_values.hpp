// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Conversion of special values in arrays and buffers, for ABIs that encode them differently from core
// (values::from_abi_rank and others are generated).
#pragma once

#include "abi/arrays.hpp"

namespace zipmpi::abi {

// A converted copy of an array that the program passed.
class ConvertedInts {
  public:
    bool load(Entry& entry, int64_t n, const int* from, int (*convert)(int) noexcept,
              const char* param) noexcept {
        if (!entry.out_array(from, n, param)) return false;
        if (!values_.resize(std::max<int64_t>(n, 0))) return entry.set_error(checks::no_memory(n));
        std::transform(from, from + values_.size(), values_.data(), convert);
        return true;
    }
    const int* data() noexcept { return values_.data(); }

  private:
    SmallArray<int> values_;
};

inline void convert_each(int* values, int64_t n, int (*convert)(int) noexcept) noexcept {
    if (n > 0) std::transform(values, values + n, values, convert);
}

template <class Buffer>
inline Buffer* from_abi_in_place(Buffer* buffer) noexcept {
    return buffer == MPI_IN_PLACE ? const_cast<Buffer*>(static_cast<const Buffer*>(core::in_place)) : buffer;
}

// Converts order and distributions among the integers that MPI_Type_get_contents has written.
void convert_contents(core::Datatype& type, int* integers) noexcept;

} // namespace zipmpi::abi
