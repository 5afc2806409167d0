// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A view: which bytes of the file this process sees, as one row of data. A place in that row is counted in
// bytes as they are in the file; the view knows where in the file it lies.
//
// Threads: any; a view does not change. A call keeps a share, so that another thread may set a new one.
#pragma once

#include "core/io/representation.hpp"

#include <memory>
#include <vector>

namespace zipmpi::core::io {

// A part of the file without gaps.
struct Stretch {
    int64_t at = 0;
    uint64_t bytes = 0;
};

struct View {
    int64_t displacement = 0;
    TypeShare etype; // as the program has given them
    TypeShare filetype;
    const Representation* representation = nullptr;
    TypeShare tile;          // the filetype as it lies in the file
    int64_t etype_bytes = 1; // in the file

    // The file has no data of this view.
    [[nodiscard]] bool empty() const { return tile->size <= 0; }
    // All data from the displacement on, without gaps.
    [[nodiscard]] bool whole() const {
        return tile->program == nullptr || (tile->program->runs == 1 && tile->program->extent == tile->size);
    }
    // Where the first byte of the row lies, if it is whole().
    [[nodiscard]] int64_t first() const {
        return displacement + (tile->program != nullptr ? tile->program->first : 0);
    }
    // How long stretches are, on average.
    [[nodiscard]] uint64_t mean_stretch() const;
    // Where in the file a byte of the row lies.
    [[nodiscard]] int64_t place_of(uint64_t byte) const;
    // How many bytes of the row lie before a place in the file, of those from `from` to `to`.
    [[nodiscard]] uint64_t bytes_before(int64_t place, uint64_t from, uint64_t to) const;
    // The same of all bytes.
    [[nodiscard]] uint64_t bytes_before(int64_t place) const;
    // Where bytes [from, from + bytes) of the row lie: at most `room` stretches are added. Returns how many
    // bytes they have.
    uint64_t list(uint64_t from, uint64_t bytes, std::vector<Stretch>& stretches, size_t room) const;
};
using ViewPtr = std::shared_ptr<const View>;

// The types must be fit for a view: see the standard, 14.3.
Err make_view(int64_t displacement, Datatype& etype, Datatype& filetype, const char* representation,
              bool writable, ViewPtr& view);

} // namespace zipmpi::core::io
