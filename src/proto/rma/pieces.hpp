// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Elements in memory, cut into chunks of few pieces and packed bytes of bounded length.
#pragma once

#include "proto/rma/window.hpp"

#include <algorithm>

namespace zipmpi::proto::rma {

inline void load(const Data& d, uint64_t from, std::byte* to, uint64_t bytes) {
    if (d.layout != nullptr)
        layout::pack(*d.layout, d.base, d.elements, from, to, bytes);
    else if (bytes != 0)
        std::memcpy(to, d.base + from, bytes);
}

inline void store(const Data& d, uint64_t at, const std::byte* from, uint64_t bytes) {
    if (d.layout != nullptr)
        layout::unpack(*d.layout, d.base, d.elements, at, from, bytes);
    else if (bytes != 0)
        std::memcpy(d.base + at, from, bytes);
}

// How chunks are cut: no longer than this, and not within an element.
struct Cut {
    uint64_t most;
    uint64_t element = 1;
    size_t pieces = 128;
};

struct Chunk {
    static constexpr size_t most_pieces = 1024;
    iovec pieces[most_pieces];
    size_t count = 0;
    uint64_t from = 0;
    uint64_t bytes = 0;

    [[nodiscard]] const std::byte* piece(size_t i) const {
        return static_cast<const std::byte*>(pieces[i].iov_base);
    }
    // The chunk of `there` that begins at packed byte `from`.
    void fill(const Data& there, const Cut& cut) {
        bytes = std::min(there.bytes - from, cut.most / cut.element * cut.element);
        if (there.layout == nullptr) {
            pieces[0] = {there.base + from, bytes};
            count = 1;
            return;
        }
        uint64_t covered = 0;
        count = layout::list_pieces(*there.layout, there.base, there.elements, from, bytes, pieces,
                                    std::min(cut.pieces, most_pieces), covered);
        bytes = covered / cut.element * cut.element;
        for (uint64_t extra = covered - bytes; extra > 0;) {
            iovec& last = pieces[count - 1];
            const uint64_t n = std::min<uint64_t>(extra, last.iov_len);
            last.iov_len -= n;
            extra -= n;
            if (last.iov_len == 0) --count;
        }
    }
};

} // namespace zipmpi::proto::rma
