// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/shared_path.hpp"

#include "proto/rma/accumulate_chunks.hpp"

namespace zipmpi::proto::rma {

void SharedPath::copy_noncontig(const TypedBuffer& from, const TypedBuffer& to) {
    std::byte packed[8192];
    for (uint64_t done = 0; done < to.bytes;) {
        const uint64_t n = std::min<uint64_t>(sizeof packed, to.bytes - done);
        load(from, done, packed, n);
        store(to, done, packed, n);
        done += n;
    }
}

Err SharedPath::accumulate(int rank, const AccumulateOp& c, const TypedBuffer& here,
                           const TypedBuffer& result, const TypedBuffer& there) {
    const AccumulateGuard guard = targets_.guard_of(rank);
    return accumulate_chunks(c, here, result, there, scratch_,
                             [&](const IovChunk& chunk, const std::byte* in, std::byte* fetched) {
                                 accumulate_iov(c, chunk.iov, chunk.count, in, fetched, guard, scratch_);
                                 return Err::success;
                             });
}

} // namespace zipmpi::proto::rma
