// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/view.hpp"

#include "core/datatype/contiguous.hpp"
#include "core/engine.hpp"

#include <algorithm>

namespace zipmpi::core::io {
namespace {

constexpr size_t listed_at_once = 64;

// Layouts speak of memory: a place in the file is an address there.
const void* as_address(int64_t place) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is read there
    return reinterpret_cast<const void*>(place);
}
int64_t as_place(const void* address) { return reinterpret_cast<int64_t>(address); }

int64_t elements_up_to(const Datatype& tile, uint64_t byte) {
    return static_cast<int64_t>(byte / static_cast<uint64_t>(tile.size)) + 2;
}

Err check_types(const Datatype& etype, const Datatype& filetype) {
    if (etype.size <= 0) return fail(Err::type, "pass an etype that has data", "the etype has no data");
    if (filetype.size % etype.size != 0)
        return fail(Err::type, "make the filetype out of whole etypes",
                    "the filetype has %lld bytes of data, the etype %lld",
                    static_cast<long long>(filetype.size), static_cast<long long>(etype.size));
    return Err::success;
}

// Places may not go back from one stretch to the next, nor overlap if the file is written. Cost: O(stretches
// of the datatype), for one with gaps.
Err check_places(const Datatype& type, bool may_overlap) {
    if (type.size > 0 && (type.true_lower < 0 || type.extent < 0))
        return fail(Err::io, "use displacements of 0 or more",
                    "a type of the view begins before its address");
    if (type.program == nullptr || type.program->runs <= 1) return Err::success;
    int64_t least = 0;
    for (uint64_t at = 0; at < static_cast<uint64_t>(type.size);) {
        iovec found[listed_at_once];
        uint64_t covered = 0;
        const size_t n =
            layout::list_pieces(*type.program, nullptr, 1, at, static_cast<uint64_t>(type.size) - at, found,
                                listed_at_once, covered);
        at += covered;
        for (size_t i = 0; i < n; ++i) {
            const int64_t place = as_place(found[i].iov_base);
            if (place < least)
                return fail(Err::io,
                            "list the parts of etype and filetype in the order of the file, each once",
                            "the displacements of a type of the view decrease, or its parts overlap");
            least = may_overlap ? place : place + static_cast<int64_t>(found[i].iov_len);
        }
    }
    return Err::success;
}

} // namespace

uint64_t View::mean_stretch() const {
    if (whole()) return ~uint64_t{0};
    return static_cast<uint64_t>(tile->size / std::max<int64_t>(tile->program->runs, 1));
}

int64_t View::place_of(uint64_t byte) const {
    if (empty()) return displacement;
    if (whole()) return first() + static_cast<int64_t>(byte);
    iovec found{};
    uint64_t covered = 0;
    layout::list_pieces(*tile->program, as_address(displacement), elements_up_to(*tile, byte), byte, 1,
                        &found, 1, covered);
    return as_place(found.iov_base);
}

uint64_t View::bytes_before(int64_t place, uint64_t from, uint64_t to) const {
    if (empty() || from >= to) return from;
    if (whole()) return std::clamp(static_cast<uint64_t>(std::max<int64_t>(place - first(), 0)), from, to);
    while (from < to) { // the first byte at or behind the place
        const uint64_t middle = from + (to - from) / 2;
        if (place_of(middle) < place)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

uint64_t View::bytes_before(int64_t place) const {
    if (empty() || place <= displacement || tile->extent <= 0) return 0;
    const int64_t tiles = (place - displacement) / tile->extent + 1;
    return bytes_before(place, 0, static_cast<uint64_t>(tiles * tile->size));
}

uint64_t View::list(uint64_t from, uint64_t bytes, std::vector<Stretch>& stretches, size_t room) const {
    if (empty() || bytes == 0) return 0;
    if (whole()) {
        stretches.push_back({first() + static_cast<int64_t>(from), bytes});
        return bytes;
    }
    uint64_t all = 0;
    while (bytes > 0 && room > 0) {
        iovec found[listed_at_once];
        uint64_t covered = 0;
        const size_t n =
            layout::list_pieces(*tile->program, as_address(displacement), elements_up_to(*tile, from + bytes),
                                from, bytes, found, std::min(room, listed_at_once), covered);
        for (size_t i = 0; i < n; ++i) stretches.push_back({as_place(found[i].iov_base), found[i].iov_len});
        from += covered;
        bytes -= covered;
        all += covered;
        room -= n;
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
        return fail(Err::unsupported_datarep, "pass native, internal, external32 or what was registered",
                    "the data representation %s is not known", representation);
    if (const Err e = type_in_file(*made->representation, filetype, made->tile); e != Err::success) return e;
    if (const Err e = bytes_in_file(*made->representation, etype, made->etype_bytes); e != Err::success)
        return e;
    if (const Err e = check_types(etype, filetype); e != Err::success) return e;
    for (const Datatype* const type : {&etype, &filetype})
        if (const Err e = check_places(*type, !writable); e != Err::success) return e;
    view = std::move(made);
    return Err::success;
}

} // namespace zipmpi::core::io
