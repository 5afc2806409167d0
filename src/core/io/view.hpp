// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A file view: the bytes of the file that this process sees, as one data stream. Positions in the stream
// count bytes in file representation; the view maps them to file offsets.
//
// Threads: any; views are immutable. A call holds a reference, so another thread may set a new view.
#pragma once

#include "core/io/representation.hpp"

#include <memory>
#include <vector>

namespace zipmpi::core::io {

// A contiguous range of the file.
struct FileRange {
    int64_t at = 0;
    uint64_t bytes = 0;
};

struct View {
    int64_t displacement = 0;
    TypeShare etype; // as passed by the application
    TypeShare filetype;
    const Representation* representation = nullptr;
    TypeShare tile;          // the filetype in file representation
    int64_t etype_bytes = 1; // in the file

    // True if the view contains no data.
    [[nodiscard]] bool empty() const { return tile->size <= 0; }
    // True if all data from the displacement on is contiguous.
    [[nodiscard]] bool is_dense() const {
        return tile->layout == nullptr || (tile->layout->runs == 1 && tile->layout->extent == tile->size);
    }
    // File offset of the first byte of the stream, if is_dense().
    [[nodiscard]] int64_t first() const {
        return displacement + (tile->layout != nullptr ? tile->layout->first : 0);
    }
    // Mean length of contiguous ranges.
    [[nodiscard]] uint64_t mean_range() const;
    // File offset of a byte of the stream.
    [[nodiscard]] int64_t file_offset_of(uint64_t byte) const;
    // Bytes of the stream range [from, to) located before a file offset.
    [[nodiscard]] uint64_t bytes_before(int64_t file_offset, uint64_t from, uint64_t to) const;
    // Bytes of the whole stream located before a file offset.
    [[nodiscard]] uint64_t bytes_before(int64_t file_offset) const;
    // Appends the file ranges of stream bytes [from, from + bytes), at most `max_ranges`. Returns the number
    // of bytes they cover.
    uint64_t list_ranges(uint64_t from, uint64_t bytes, std::vector<FileRange>& ranges,
                         size_t max_ranges) const;
};
using ViewPtr = std::shared_ptr<const View>;

// Checks the types as MPI section 14.3 requires.
Err make_view(int64_t displacement, Datatype& etype, Datatype& filetype, const char* representation,
              bool writable, ViewPtr& view);

} // namespace zipmpi::core::io
