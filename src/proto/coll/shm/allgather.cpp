// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allgather: every rank writes its block in chunks and reads those of all others. The chunks of all ranks
// should fit into the L2 cache together with the data copied out.
#include "base/param.hpp"
#include "proto/coll/shm/shm.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

constexpr size_t bytes_at_a_time = 256 * KiB;
constexpr size_t min_chunk = 16 * KiB;

struct AllgatherTask {
    CollBuffer* buffer;
    const std::byte* input;
    std::byte* all;
    size_t block;
    CollSignature signature;

    void run() const {
        const int p = buffer->members();
        const int self = buffer->self();
        const size_t chunk =
            std::min(buffer->slot_capacity(), std::max(min_chunk, bytes_at_a_time / static_cast<size_t>(p)));
        for (size_t from = 0; from < block; from += chunk) {
            const size_t n = std::min(chunk, block - from);
            const uint32_t k = buffer->begin(Leave::together, signature);
            std::memcpy(buffer->slot(k, self), input + from, n);
            buffer->sync(k);
            std::byte* own = all + static_cast<size_t>(self) * block + from;
            if (own != input + from) std::memcpy(own, input + from, n);
            for (int i = 1; i < p; ++i) {
                const int r = (self + i) % p;
                std::memcpy(all + static_cast<size_t>(r) * block + from, buffer->slot(k, r), n);
            }
        }
    }
};

} // namespace

bool allgather(Collective& c, Team& t, const void* input, void* all, size_t block) {
    CollBuffer* buffer = coll_buffer_for(c, t, block);
    return buffer != nullptr && run_task(c, AllgatherTask{buffer,
                                                          static_cast<const std::byte*>(input),
                                                          static_cast<std::byte*>(all),
                                                          block,
                                                          {c.sequence(), CollKind::allgather, block}});
}

} // namespace zipmpi::proto::coll::shm
