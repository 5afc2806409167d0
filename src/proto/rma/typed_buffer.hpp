// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Elements in memory, contiguous or with a layout.
#pragma once

#include "packing/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace zipmpi::proto::rma {

// Elements in memory; contiguous bytes if layout is null.
struct TypedBuffer {
    std::byte* base = nullptr; // of a target: see Target::address_of()
    const packing::Layout* layout = nullptr;
    int64_t elements = 0;
    uint64_t bytes = 0;
};

inline void load(const TypedBuffer& d, uint64_t from, std::byte* to, uint64_t bytes) {
    if (d.layout != nullptr)
        packing::pack(*d.layout, d.base, d.elements, from, to, bytes);
    else if (bytes != 0)
        std::memcpy(to, d.base + from, bytes);
}

inline void store(const TypedBuffer& d, uint64_t at, const std::byte* from, uint64_t bytes) {
    if (d.layout != nullptr)
        packing::unpack(*d.layout, d.base, d.elements, at, from, bytes);
    else if (bytes != 0)
        std::memcpy(d.base + at, from, bytes);
}

} // namespace zipmpi::proto::rma
