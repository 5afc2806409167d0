// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The compiled form of a datatype: its layout, and the distance from one element to the next. Packing,
// unpacking and listing work on any part of the packed bytes; finding the first of them takes
// O(depth * log(list length)), so that going through a message in pieces costs the same in all.
//
// Called by core for MPI_Pack and by protocols that copy straight between a buffer and their cells.
// Threads: any; nothing here changes a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <sys/uio.h>

namespace zipmpi::layout {

struct Node; // node.hpp
struct Placed;

struct Program {
    std::shared_ptr<const Node> root; // null: no data
    int64_t first = 0;                // of root, from the address of an element
    int64_t size = 0;                 // bytes of data of one element
    int64_t extent = 0;               // from one element to the next
    int64_t runs = 0;                 // contiguous pieces of one element

    // The data of so many elements are one run that begins at base + first.
    [[nodiscard]] bool contiguous(int64_t count) const {
        return count == 0 || runs == 0 || (runs == 1 && (count == 1 || extent == size));
    }
    [[nodiscard]] std::byte* start(const void* base) const {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): base may be MPI_BOTTOM, to which nothing may be added
        return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(base) +
                                            static_cast<uintptr_t>(first));
    }
};
using ProgramPtr = std::shared_ptr<const Program>;

// Equal datatypes get the same program.
ProgramPtr compile(const Placed& layout, int64_t extent);

// Copies packed bytes [from, from + bytes) of `count` elements at base; `bytes` is cut at the end of the
// data. Returns how many were copied.
uint64_t pack(const Program& program, const void* base, int64_t count, uint64_t from, void* out,
              uint64_t bytes);
uint64_t unpack(const Program& program, void* base, int64_t count, uint64_t from, const void* in,
                uint64_t bytes);

// Where the packed bytes [from, from + bytes) lie: up to `room` pieces; adjacent ones are merged. `covered`
// says how many of the bytes they hold.
size_t list_pieces(const Program& program, const void* base, int64_t count, uint64_t from, uint64_t bytes,
                   iovec* pieces, size_t room, uint64_t& covered);

} // namespace zipmpi::layout
