// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allgather and all-to-all of large blocks by CMA: every rank reads from the buffers of its peers. Each byte
// is copied once.
#include "base/param.hpp"
#include "proto/coll/shm/peer_memory.hpp"

#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> most_readers{"coll.cma_allgather_max_ranks",
                            2,
                            {0, INT32_MAX},
                            Unit::none,
                            Level::tuner,
                            Scope::job_wide,
                            "most ranks for which MPI_Allgather uses CMA"};

Param<int64_t> exchange_min{
    "coll.cma_alltoall_min",
    16 * KiB,
    {1, INT64_MAX},
    Unit::bytes,
    Level::tuner,
    Scope::job_wide,
    "smallest MPI_Alltoall block read by CMA; a quarter of it if shared memory would need more than four "
    "segments"};
constexpr size_t few_chunks = 4;

size_t min_alltoall_block(const SelectionInput& in) {
    const auto least = static_cast<size_t>(exchange_min.get());
    const bool many_chunks =
        in.size.bytes * static_cast<size_t>(in.ranks) > few_chunks * large_slot_capacity(in.ranks);
    return many_chunks ? least / 4 : least;
}

struct CmaAllgatherTask {
    CollBuffer* buffer;
    ProgressEngine* engine;
    const std::byte* input;
    std::byte* all;
    size_t block;
    CollSignature signature;

    [[nodiscard]] Err run() const {
        PeerMemory peer_memory(*buffer, *engine, signature);
        peer_memory.publish(input);
        std::byte* own = all + static_cast<size_t>(buffer->self()) * block;
        if (own != input) std::memcpy(own, input, block);
        for (int i = 1; i < buffer->members(); ++i) {
            const int r = (buffer->self() + i) % buffer->members();
            peer_memory.read(r, 0, all + static_cast<size_t>(r) * block, block);
        }
        peer_memory.finish();
        return peer_memory.failed() ? cma_denied_error() : Err::success;
    }
};

struct CmaAlltoallTask {
    CollBuffer* buffer;
    ProgressEngine* engine;
    const std::byte* send;
    std::byte* recv;
    size_t block;
    CollSignature signature;

    [[nodiscard]] Err run() const {
        PeerMemory peer_memory(*buffer, *engine, signature);
        peer_memory.publish(send);
        const size_t own = static_cast<size_t>(buffer->self()) * block;
        std::memcpy(recv + own, send + own, block);
        for (int i = 1; i < buffer->members(); ++i) {
            const int r = (buffer->self() + i) % buffer->members();
            peer_memory.read(r, own, recv + static_cast<size_t>(r) * block, block);
        }
        peer_memory.finish();
        return peer_memory.failed() ? cma_denied_error() : Err::success;
    }
};

} // namespace

bool can_cma_allgather(const SelectionInput& in) {
    return in.ranks <= most_readers.get() && in.size.bytes >= min_cma_bytes();
}

bool can_cma_alltoall(const SelectionInput& in) { return in.size.bytes >= min_alltoall_block(in); }

bool cma_allgather(Collective& c, Team& t, const void* input, void* all, size_t block) {
    CollBuffer* buffer = coll_buffer_for_cma(c, t);
    return buffer != nullptr && run_task(c, CmaAllgatherTask{buffer,
                                                             t.engine,
                                                             static_cast<const std::byte*>(input),
                                                             static_cast<std::byte*>(all),
                                                             block,
                                                             {c.sequence(), CollKind::allgather, block}});
}

bool cma_alltoall(Collective& c, Team& t, const void* send, void* recv, size_t block) {
    CollBuffer* buffer = coll_buffer_for_cma(c, t);
    return buffer != nullptr && run_task(c, CmaAlltoallTask{buffer,
                                                            t.engine,
                                                            static_cast<const std::byte*>(send),
                                                            static_cast<std::byte*>(recv),
                                                            block,
                                                            {c.sequence(), CollKind::alltoall, block}});
}

} // namespace zipmpi::proto::coll::shm
