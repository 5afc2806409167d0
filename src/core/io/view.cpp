// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/view.hpp"

#include "core/datatype/contiguous.hpp"
#include "core/runtime.hpp"

#include <algorithm>

namespace zipmpi::core::io {
namespace {

constexpr size_t ranges_per_call = 64;

// Layouts use memory addresses: a file offset is represented as an address.
const void* as_address(int64_t file_offset) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is read there
    return reinterpret_cast<const void*>(file_offset);
}
int64_t as_file_offset(const void* address) { return reinterpret_cast<int64_t>(address); }

int64_t elements_up_to(const Datatype& tile, uint64_t byte) {
    return static_cast<int64_t>(byte / static_cast<uint64_t>(tile.size)) + 2;
}

Err check_types(const Datatype& etype, const Datatype& filetype) {
    if (etype.size <= 0) return fail(Err::type, "pass an etype with a size above 0", "the etype has size 0");
    if (filetype.size % etype.size != 0)
        return fail(Err::type, "build the filetype from whole etypes",
                    "the size of the filetype, %lld bytes, is not a multiple of the etype size, %lld bytes",
                    static_cast<long long>(filetype.size), static_cast<long long>(etype.size));
    return Err::success;
}

// Displacements must not decrease from one segment to the next, nor overlap if the file is written. Cost:
// O(segments of the datatype) if it is noncontiguous.
Err check_displacements(const Datatype& type, bool may_overlap) {
    if (type.size > 0 && (type.true_lower < 0 || type.extent < 0))
        return fail(Err::io, "use displacements of 0 or more",
                    "a type of the view has a negative lower bound");
    if (type.layout == nullptr || type.layout->runs <= 1) return Err::success;
    int64_t least = 0;
    for (uint64_t at = 0; at < static_cast<uint64_t>(type.size);) {
        iovec found[ranges_per_call];
        uint64_t covered = 0;
        const size_t n =
            packing::list_iov(*type.layout, nullptr, 1, at, static_cast<uint64_t>(type.size) - at, found,
                              ranges_per_call, covered);
        at += covered;
        for (size_t i = 0; i < n; ++i) {
            const int64_t file_offset = as_file_offset(found[i].iov_base);
            if (file_offset < least)
                return fail(Err::io, "use ascending displacements without overlap in etype and filetype",
                            "the displacements of a type of the view decrease or overlap");
            least = may_overlap ? file_offset : file_offset + static_cast<int64_t>(found[i].iov_len);
        }
    }
    return Err::success;
}

} // namespace

uint64_t View::mean_range() const {
    if (is_dense()) return ~uint64_t{0};
    return static_cast<uint64_t>(tile->size / std::max<int64_t>(tile->layout->runs, 1));
}

int64_t View::file_offset_of(uint64_t byte) const {
    if (empty()) return displacement;
    if (is_dense()) return first() + static_cast<int64_t>(byte);
    iovec found{};
    uint64_t covered = 0;
    packing::list_iov(*tile->layout, as_address(displacement), elements_up_to(*tile, byte), byte, 1, &found,
                      1, covered);
    return as_file_offset(found.iov_base);
}

uint64_t View::bytes_before(int64_t file_offset, uint64_t from, uint64_t to) const {
    if (empty() || from >= to) return from;
    if (is_dense())
        return std::clamp(static_cast<uint64_t>(std::max<int64_t>(file_offset - first(), 0)), from, to);
    while (from < to) { // binary search for the first byte at or after the offset
        const uint64_t middle = from + (to - from) / 2;
        if (file_offset_of(middle) < file_offset)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

uint64_t View::bytes_before(int64_t file_offset) const {
    if (empty() || file_offset <= displacement || tile->extent <= 0) return 0;
    const int64_t tiles = (file_offset - displacement) / tile->extent + 1;
    return bytes_before(file_offset, 0, static_cast<uint64_t>(tiles * tile->size));
}

uint64_t View::list_ranges(uint64_t from, uint64_t bytes, std::vector<FileRange>& ranges,
                           size_t max_ranges) const {
    if (empty() || bytes == 0) return 0;
    if (is_dense()) {
        ranges.push_back({first() + static_cast<int64_t>(from), bytes});
        return bytes;
    }
    uint64_t all = 0;
    while (bytes > 0 && max_ranges > 0) {
        iovec found[ranges_per_call];
        uint64_t covered = 0;
        const size_t n =
            packing::list_iov(*tile->layout, as_address(displacement), elements_up_to(*tile, from + bytes),
                              from, bytes, found, std::min(max_ranges, ranges_per_call), covered);
        for (size_t i = 0; i < n; ++i)
            ranges.push_back({as_file_offset(found[i].iov_base), found[i].iov_len});
        from += covered;
        bytes -= covered;
        all += covered;
        max_ranges -= n;
    }
    return all;
}

Err make_view(int64_t displacement, Datatype& etype, Datatype& filetype, const char* representation,
              bool writable, ViewPtr& view) {
    auto made = std::make_shared<View>();
    made->displacement = displacement;
    made->etype = share(etype);
    made->filetype = share(filetype);
    made->representation = find_representation(representation);
    if (made->representation == nullptr)
        return fail(Err::unsupported_datarep,
                    "pass native, internal, external32 or a registered representation",
                    "the data representation %s is unknown", representation);
    if (const Err e = type_in_file(*made->representation, filetype, made->tile); e != Err::success) return e;
    if (const Err e = bytes_in_file(*made->representation, etype, made->etype_bytes); e != Err::success)
        return e;
    if (const Err e = check_types(etype, filetype); e != Err::success) return e;
    for (const Datatype* const type : {&etype, &filetype})
        if (const Err e = check_displacements(*type, !writable); e != Err::success) return e;
    view = std::move(made);
    return Err::success;
}

} // namespace zipmpi::core::io
