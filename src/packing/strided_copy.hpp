// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Copies of many short segments. Common lengths are compile-time constants; other lengths up to 64 bytes are
// two overlapping copies, so that no function is called per segment.
#pragma once

#include "packing/struct_copy.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace zipmpi::packing {

// Number of segments and their distance on both sides.
struct Strides {
    int64_t count;
    int64_t to;
    int64_t from;
};

template <size_t length>
struct Fixed {
    [[gnu::always_inline]] static void copy(std::byte* to, const std::byte* from, size_t) {
        __builtin_memcpy(to, from, length);
    }
};

// Any length in [half, 2 * half].
template <size_t half>
struct Overlapped {
    [[gnu::always_inline]] static void copy(std::byte* to, const std::byte* from, size_t length) {
        std::byte head[half];
        std::byte tail[half];
        __builtin_memcpy(head, from, half);
        __builtin_memcpy(tail, from + length - half, half);
        __builtin_memcpy(to, head, half);
        __builtin_memcpy(to + length - half, tail, half);
    }
};

struct AnyLength {
    [[gnu::always_inline]] static void copy(std::byte* to, const std::byte* from, size_t length) {
        std::memcpy(to, from, length);
    }
};

// Calls use(copier) with the copier for this length.
template <class Use>
[[gnu::always_inline]] inline void with_copier(size_t length, const Use& use) {
    switch (length) {
    case 1:
        return use(Fixed<1>{});
    case 2:
        return use(Fixed<2>{});
    case 3:
        return use(Fixed<3>{});
    case 4:
        return use(Fixed<4>{});
    case 8:
        return use(Fixed<8>{});
    case 12:
        return use(Fixed<12>{});
    case 16:
        return use(Fixed<16>{});
    case 20:
        return use(Fixed<20>{});
    case 24:
        return use(Fixed<24>{});
    case 32:
        return use(Fixed<32>{});
    case 40:
        return use(Fixed<40>{});
    case 48:
        return use(Fixed<48>{});
    case 64:
        return use(Fixed<64>{});
    default:
        break;
    }
    if (length > 64) return use(AnyLength{});
    if (length > 32) return use(Overlapped<32>{});
    if (length > 16) return use(Overlapped<16>{});
    if (length > 8) return use(Overlapped<8>{});
    use(Overlapped<4>{});
}

template <class Copier>
inline void copy_row(std::byte* to, const std::byte* from, Strides row, size_t length) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < row.count; ++i) Copier::copy(to + i * row.to, from + i * row.from, length);
}

// outer.count rows of inner.count segments.
inline void copy_grid(std::byte* to, const std::byte* from, Strides outer, Strides inner, size_t length) {
    with_copier(length, [&](auto copier) {
        for (int64_t i = 0; i < outer.count; ++i)
            copy_row<decltype(copier)>(to + i * outer.to, from + i * outer.from, inner, length);
    });
}

template <size_t... lengths>
inline void copy_struct_row(std::byte* to, const std::byte* from, Strides row, const StructCopy& record,
                            bool packing) {
    std::byte* into[sizeof...(lengths)];
    const std::byte* out_of[sizeof...(lengths)];
    for (size_t k = 0; k < sizeof...(lengths); ++k) {
        into[k] = to + (packing ? record.chunk(k).start : record.chunk(k).displacement);
        out_of[k] = from + (packing ? record.chunk(k).displacement : record.chunk(k).start);
    }
    int64_t written = 0;
    int64_t read = 0;
    for (int64_t i = 0; i < row.count; ++i, written += row.to, read += row.from) {
        size_t k = 0;
        ((Fixed<lengths>::copy(into[k] + written, out_of[k] + read, 0), ++k), ...);
    }
}

// Copies the runs of a StructCopy for row.count elements. Recursion over the chunks selects the loop for
// their lengths.
template <size_t... chosen>
inline void copy_structs(std::byte* to, const std::byte* from, Strides row, const StructCopy& record,
                         bool packing) {
    constexpr size_t done = sizeof...(chosen);
    if constexpr (done != 0)
        if (done == record.chunks()) return copy_struct_row<chosen...>(to, from, row, record, packing);
    if constexpr (done < StructCopy::max_chunks) {
        switch (record.chunk(done).length) {
        case 1:
            return copy_structs<chosen..., 1>(to, from, row, record, packing);
        case 2:
            return copy_structs<chosen..., 2>(to, from, row, record, packing);
        case 4:
            return copy_structs<chosen..., 4>(to, from, row, record, packing);
        case 8:
            return copy_structs<chosen..., 8>(to, from, row, record, packing);
        default:
            return copy_structs<chosen..., max_chunk_bytes>(to, from, row, record, packing);
        }
    }
}

// One segment of any length.
[[gnu::always_inline]] inline void copy_segment(std::byte* to, const std::byte* from, size_t length) {
    if (length >= 8) {
        if (length <= 16) return Overlapped<8>::copy(to, from, length);
        if (length <= 32) return Overlapped<16>::copy(to, from, length);
        if (length <= 64) return Overlapped<32>::copy(to, from, length);
        std::memcpy(to, from, length);
    } else if (length >= 4) {
        Overlapped<4>::copy(to, from, length);
    } else {
        for (size_t i = 0; i < length; ++i) to[i] = from[i];
    }
}

} // namespace zipmpi::packing
