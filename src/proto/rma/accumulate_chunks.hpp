// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Splits an accumulate on mapped or CMA memory into chunks that fit into staging buffers.
#pragma once

#include "proto/rma/accumulate_op.hpp"
#include "proto/rma/iov_chunk.hpp"

namespace zipmpi::proto::rma {

inline constexpr uint64_t staged_bytes = uint64_t{64} << 10; // staging buffer; fits into the cache

// Calls apply(chunk, in, fetched) for each chunk: packed operands, and memory for the packed previous values;
// null if not used. result.bytes == 0: nothing is fetched.
template <class Apply>
Err accumulate_chunks(const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                      const TypedBuffer& there, ScratchBuffers& scratch, const Apply& apply) {
    const bool fetches = result.bytes != 0;
    const ChunkLimits limits{staged_bytes, c.element_bytes, IovChunk::max_segments};
    // not a scratch buffer, which the operation may use
    std::vector<std::byte> packed_result(fetches && result.layout != nullptr ? staged_bytes : 0);
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, limits);
        const std::byte* in = c.writes() ? here.base + chunk.from : nullptr;
        if (c.writes() && here.layout != nullptr) {
            std::byte* const packed = scratch.get(ScratchBuffers::packed_origin, staged_bytes);
            load(here, chunk.from, packed, chunk.bytes);
            in = packed;
        }
        std::byte* fetched = nullptr;
        if (fetches) fetched = result.layout == nullptr ? result.base + chunk.from : packed_result.data();
        if (const Err e = apply(chunk, in, fetched); e != Err::success) return e;
        if (fetches && result.layout != nullptr) store(result, chunk.from, fetched, chunk.bytes);
    }
    return Err::success;
}

} // namespace zipmpi::proto::rma
