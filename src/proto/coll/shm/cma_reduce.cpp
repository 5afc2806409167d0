// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Large reductions between few ranks by CMA: each rank reduces its share, reading the input of the others
// from the last rank to the first; then the ranks that need the result read the shares. Per rank (p - 1) n /
// p bytes are read and combined, and as many read again. In a two-rank MPI_Reduce the other rank writes its
// share into the result of the root. A shorter MPI_Reduce is faster through shared memory: the other ranks
// leave once they have written, and compute while the root combines.
#include "base/param.hpp"
#include "proto/coll/shm/peer_memory.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> most_ranks{"coll.cma_reduce_max_ranks",
                          2,
                          {0, INT32_MAX},
                          Unit::none,
                          Level::tuner,
                          Scope::job_wide,
                          "most ranks for which reductions use CMA"};

Param<int64_t> allreduce_min{"coll.cma_allreduce_min",
                             64 * KiB,
                             {1, INT64_MAX},
                             Unit::bytes,
                             Level::tuner,
                             Scope::job_wide,
                             "smallest MPI_Allreduce of few ranks by CMA"};

Param<int64_t> reduce_min{"coll.cma_reduce_min",
                          256 * KiB,
                          {1, INT64_MAX},
                          Unit::bytes,
                          Level::tuner,
                          Scope::job_wide,
                          "smallest MPI_Reduce of few ranks by CMA"};

// Combined per step: amortizes the system call and fits into the L2 cache.
constexpr size_t block_bytes = 256 * KiB;

size_t staging_bytes(const ReduceOp& op) { return std::min(block_bytes, op.bytes()); }

// Share of the root in a cooperative reduction; less for the other rank, which must also write its result.
constexpr double root_share = 0.7;

struct CmaReduceTask {
    CollBuffer* buffer;
    ProgressEngine* engine;
    const ReduceOp* op;
    const std::byte* input;
    std::byte* result;
    int root;          // -1: allreduce
    bool cooperative;  // two ranks; the other one writes its share to the root
    std::byte* blocks; // two of staging_bytes()
    CollSignature signature;

    // First element of the share of a member.
    [[nodiscard]] int64_t share_begin(int member) const { return op->count * member / buffer->members(); }

    void combine_share(PeerMemory& peer_memory) const {
        const auto step = static_cast<int64_t>(block_bytes / op->element_bytes);
        const int64_t end = share_begin(buffer->self() + 1);
        for (int64_t at = share_begin(buffer->self()); at < end; at += step) {
            const int64_t n = std::min(step, end - at);
            if (is_pair())
                combine_pair(peer_memory, at, n);
            else
                combine_all(peer_memory, at, n);
        }
    }

    // Two commuting operands may be combined in either order, so neither must be copied first.
    [[nodiscard]] bool is_pair() const { return buffer->members() == 2 && op->commutative; }
    void combine_pair(PeerMemory& peer_memory, int64_t at, int64_t n) const {
        const size_t offset = static_cast<size_t>(at) * op->element_bytes;
        const bool in_place = input == result;
        std::byte* contribution = in_place ? blocks : result + offset;
        peer_memory.read(1 - buffer->self(), offset, contribution,
                         static_cast<size_t>(n) * op->element_bytes);
        (*op)(in_place ? blocks : input + offset, result + offset, n);
    }

    void combine_all(PeerMemory& peer_memory, int64_t at, int64_t n) const {
        const size_t offset = static_cast<size_t>(at) * op->element_bytes;
        const size_t bytes = static_cast<size_t>(n) * op->element_bytes;
        std::byte* sum = blocks;
        std::byte* next = blocks + staging_bytes(*op);
        const int last = buffer->members() - 1;
        fetch(peer_memory, last, offset, sum, bytes);
        for (int r = last - 1; r >= 0; --r) {
            const std::byte* contribution = r == buffer->self() ? input + offset : next;
            if (r != buffer->self()) peer_memory.read(r, offset, next, bytes);
            (*op)(contribution, sum, n);
        }
        std::memcpy(result + offset, sum, bytes);
    }

    void fetch(PeerMemory& peer_memory, int member, size_t offset, std::byte* to, size_t bytes) const {
        if (member == buffer->self())
            std::memcpy(to, input + offset, bytes);
        else
            peer_memory.read(member, offset, to, bytes);
    }

    void read_shares(PeerMemory& peer_memory) const {
        for (int r = 0; r < buffer->members(); ++r) {
            if (r == buffer->self()) continue;
            const size_t from = static_cast<size_t>(share_begin(r)) * op->element_bytes;
            const size_t to = static_cast<size_t>(share_begin(r + 1)) * op->element_bytes;
            peer_memory.read(r, from, result + from, to - from);
        }
    }

    // Requires two ranks and a commutative operator.
    void combine_cooperatively(PeerMemory& peer_memory) const {
        const auto step = static_cast<int64_t>(block_bytes / op->element_bytes);
        const auto split = static_cast<int64_t>(static_cast<double>(op->count) * root_share);
        const bool at_root = root == buffer->self();
        const int64_t end = at_root ? split : op->count;
        peer_memory.publish(input, result);
        for (int64_t at = at_root ? 0 : split; at < end; at += step) {
            const int64_t n = std::min(step, end - at);
            if (at_root) {
                combine_pair(peer_memory, at, n);
                continue;
            }
            const size_t offset = static_cast<size_t>(at) * op->element_bytes;
            const size_t bytes = static_cast<size_t>(n) * op->element_bytes;
            peer_memory.read(1 - buffer->self(), offset, blocks, bytes);
            (*op)(input + offset, blocks, n);
            peer_memory.write(root, offset, blocks, bytes);
        }
        peer_memory.finish();
    }

    [[nodiscard]] Err run() const {
        PeerMemory peer_memory(*buffer, *engine, signature);
        if (cooperative) {
            combine_cooperatively(peer_memory);
            return peer_memory.failed() ? cma_denied_error() : Err::success;
        }
        peer_memory.publish(input);
        combine_share(peer_memory);
        if (root < 0) {
            peer_memory.publish(result);
            read_shares(peer_memory);
            peer_memory.finish();
        } else {
            peer_memory.publish_to(root, result);
            if (root == buffer->self()) read_shares(peer_memory);
            peer_memory.finish_for(root);
        }
        return peer_memory.failed() ? cma_denied_error() : Err::success;
    }
};

bool can_use_cma(const SelectionInput& in, int64_t least_bytes) {
    return in.size.bytes >= static_cast<size_t>(least_bytes) && in.size.element_bytes <= block_bytes &&
           in.ranks <= most_ranks.get();
}

} // namespace

bool can_cma_reduce(const SelectionInput& in) { return can_use_cma(in, reduce_min.get()); }

bool can_cma_allreduce(const SelectionInput& in) { return can_use_cma(in, allreduce_min.get()); }

bool cma_reduce(Collective& c, Team& t, const void* input, void* result, int root) {
    const ReduceOp& op = c.schedule().op();
    CollBuffer* buffer = coll_buffer_for_cma(c, t);
    if (buffer == nullptr) return false;
    const bool cooperative =
        root >= 0 && op.commutative && t.coll_buffers.get()->can_write && buffer->members() == 2;
    CmaReduceTask task{buffer,
                       t.engine,
                       &op,
                       static_cast<const std::byte*>(input),
                       static_cast<std::byte*>(result),
                       root,
                       cooperative,
                       nullptr,
                       {c.sequence(), root < 0 ? CollKind::allreduce : CollKind::reduce, op.bytes(), root}};
    if (root >= 0 && t.rank != root && !task.cooperative) {
        // memory for this rank's share only; the pointer is offset as if the whole vector existed
        const size_t from = static_cast<size_t>(task.share_begin(t.rank)) * op.element_bytes;
        task.result = c.schedule().scratch(
                          static_cast<size_t>(task.share_begin(t.rank + 1)) * op.element_bytes - from) -
                      from;
    }
    if (task.cooperative || !task.is_pair() || input == result)
        task.blocks = c.schedule().scratch(2 * staging_bytes(op));
    return run_task(c, task);
}

} // namespace zipmpi::proto::coll::shm
