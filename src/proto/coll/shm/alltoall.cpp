// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All-to-all of small blocks: every rank writes all its blocks, or as much of each as fits, and reads its own
// from the slots of the others. Each byte is copied twice, which pays off only for blocks whose message
// overhead exceeds the cost of a copy.
#include "base/param.hpp"
#include "proto/coll/shm/shm.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> most_bytes{"coll.shm_alltoall_max",
                          16 * KiB,
                          {0, INT64_MAX},
                          Unit::bytes,
                          Level::tuner,
                          Scope::job_wide,
                          "largest MPI_Alltoall block copied through shared memory"};

// Blocks up to this size are copied in one call: skipping the rank's own block costs more than copying it.
constexpr size_t copy_together_max = 512;

struct AlltoallTask {
    CollBuffer* buffer;
    const std::byte* send;
    std::byte* recv;
    size_t block;
    size_t chunk;
    CollSignature signature;

    void run() const {
        const int p = buffer->members();
        const int self = buffer->self();
        for (size_t from = 0; from < block; from += chunk) {
            const size_t n = std::min(chunk, block - from);
            const uint32_t k = buffer->begin(Leave::together, signature);
            std::byte* out = buffer->slot(k, self);
            if (n == block && block <= copy_together_max) {
                std::memcpy(out, send, block * static_cast<size_t>(p));
            } else {
                for (int r = 0; r < p; ++r)
                    if (r != self)
                        std::memcpy(out + static_cast<size_t>(r) * n,
                                    send + static_cast<size_t>(r) * block + from, n);
            }
            buffer->sync(k);
            const size_t own = static_cast<size_t>(self) * block + from;
            std::memcpy(recv + own, send + own, n);
            for (int i = 1; i < p; ++i) {
                const int r = (self + i) % p;
                std::memcpy(recv + static_cast<size_t>(r) * block + from,
                            buffer->slot(k, r) + static_cast<size_t>(self) * n, n);
            }
        }
    }
};

} // namespace

bool can_alltoall(const SelectionInput& in) { return in.size.bytes <= static_cast<size_t>(most_bytes.get()); }

bool alltoall(Collective& c, Team& t, const void* send, void* recv, size_t block) {
    const size_t total = block * static_cast<size_t>(t.size);
    CollBuffer* buffer = coll_buffer_for(c, t, total);
    if (buffer == nullptr) return false;
    const size_t chunk =
        total <= buffer->slot_capacity() ? block : buffer->slot_capacity() / static_cast<size_t>(t.size);
    return chunk != 0 && run_task(c, AlltoallTask{buffer,
                                                  static_cast<const std::byte*>(send),
                                                  static_cast<std::byte*>(recv),
                                                  block,
                                                  chunk,
                                                  {c.sequence(), CollKind::alltoall, block}});
}

} // namespace zipmpi::proto::coll::shm
