// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that lives as long as its owner. The first bytes need no allocation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace zipmpi::proto::coll {

class ScratchMemory {
  public:
    // Aligned for any type. Null if out of memory.
    [[nodiscard]] std::byte* allocate(size_t bytes) {
        if (bytes > sizeof first_ - first_used_) return allocate_more(bytes);
        std::byte* address = first_ + first_used_;
        first_used_ = std::min(sizeof first_, (first_used_ + bytes + alignment - 1) / alignment * alignment);
        return address;
    }

  private:
    static constexpr size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

    std::byte* allocate_more(size_t bytes) {
        std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[bytes != 0 ? bytes : 1]);
        if (memory == nullptr) return nullptr;
        more_.push_back(std::move(memory));
        return more_.back().get();
    }

    alignas(alignment) std::byte first_[128];
    size_t first_used_ = 0;
    std::vector<std::unique_ptr<std::byte[]>> more_;
};

} // namespace zipmpi::proto::coll
