// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Chunks of elements in memory, with bounded packed bytes and number of segments.
#pragma once

#include "proto/rma/typed_buffer.hpp"

#include <algorithm>

namespace zipmpi::proto::rma {

// Limits of a chunk; chunks end at element boundaries.
struct ChunkLimits {
    uint64_t max_bytes;
    uint64_t element_bytes = 1;
    size_t max_segments = 128;
};

struct IovChunk {
    static constexpr size_t max_segments = 1024;
    iovec iov[max_segments];
    size_t count = 0;
    uint64_t from = 0;
    uint64_t bytes = 0;

    [[nodiscard]] const std::byte* segment(size_t i) const {
        return static_cast<const std::byte*>(iov[i].iov_base);
    }
    // Fills the chunk of `there` that starts at packed byte `from`.
    void fill(const TypedBuffer& there, const ChunkLimits& limits) {
        bytes = std::min(there.bytes - from, limits.max_bytes / limits.element_bytes * limits.element_bytes);
        if (there.layout == nullptr) {
            iov[0] = {there.base + from, bytes};
            count = 1;
            return;
        }
        uint64_t covered = 0;
        count = packing::list_iov(*there.layout, there.base, there.elements, from, bytes, iov,
                                  std::min(limits.max_segments, max_segments), covered);
        bytes = covered / limits.element_bytes * limits.element_bytes;
        for (uint64_t extra = covered - bytes; extra > 0;) {
            iovec& last = iov[count - 1];
            const uint64_t n = std::min<uint64_t>(extra, last.iov_len);
            last.iov_len -= n;
            extra -= n;
            if (last.iov_len == 0) --count;
        }
    }
};

} // namespace zipmpi::proto::rma
