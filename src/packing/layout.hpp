// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Layout: the compiled form of a datatype. Packing, unpacking and listing work on any range of the packed
// bytes; locating its first byte takes O(depth * log(list length)), so processing a message in fragments has
// no extra cost.
//
// Used by core for MPI_Pack and by protocols that copy directly between a user buffer and cells.
// Threads: any; layouts are immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <sys/uio.h>

namespace zipmpi::packing {

struct LayoutNode; // layout_node.hpp
struct PlacedNode;

struct Layout {
    std::shared_ptr<const LayoutNode> root; // null: no data
    int64_t first = 0;                      // displacement of root from the address of an element
    int64_t size = 0;                       // bytes of data of one element
    int64_t extent = 0;                     // from one element to the next
    int64_t runs = 0;                       // contiguous segments of one element

    // True if the data of `count` elements is one run that begins at base + first.
    [[nodiscard]] bool contiguous(int64_t count) const {
        return count == 0 || runs == 0 || (runs == 1 && (count == 1 || extent == size));
    }
    [[nodiscard]] std::byte* start(const void* base) const {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): base may be MPI_BOTTOM, to which nothing may be added
        return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(base) +
                                            static_cast<uintptr_t>(first));
    }
};
using LayoutPtr = std::shared_ptr<const Layout>;

// Equal datatypes share one layout.
LayoutPtr compile(const PlacedNode& layout, int64_t extent);

// Copies packed bytes [from, from + bytes) of `count` elements at base, up to the end of the data. Returns
// the number of bytes copied.
uint64_t pack(const Layout& layout, const void* base, int64_t count, uint64_t from, void* out,
              uint64_t bytes);
uint64_t unpack(const Layout& layout, void* base, int64_t count, uint64_t from, const void* in,
                uint64_t bytes);

// Lists the segments of the packed bytes [from, from + bytes): up to `capacity` segments, adjacent ones
// merged. `covered` is the number of bytes in them.
size_t list_iov(const Layout& layout, const void* base, int64_t count, uint64_t from, uint64_t bytes,
                iovec* iov, size_t capacity, uint64_t& covered);

} // namespace zipmpi::packing
