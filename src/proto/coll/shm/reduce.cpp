// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions. Contributions are combined from the last rank to the first ("in op inout"), so that rank order
// is preserved and the result does not depend on which rank combines.
//
// Small: every rank writes its contribution. With flags each rank combines for itself; with counters the last
// rank to arrive combines for all, so that no rank is woken before the result is complete.
// Large: in chunks of at most one slot. Every rank writes its chunk, combines its share of the chunks of all
// ranks, then reads the result. The next chunk is written while the current one is combined.
#include "base/param.hpp"
#include "proto/coll/shm/shm.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> shared_min{
    "coll.shm_parallel_reduce_min",
    48 * KiB,
    {1, INT64_MAX},
    Unit::bytes,
    Level::tuner,
    Scope::job_wide,
    "smallest MPI_Allreduce reduced by all ranks in parallel when counter-based synchronization is used"};

// Combined per step: fits into the L1 cache.
constexpr size_t block_bytes = 8192;

struct ReduceTask {
    CollBuffer* buffer;
    const ReduceOp* op;
    const std::byte* input;
    std::byte* result;
    int root; // -1: allreduce
    CollSignature signature;

    [[nodiscard]] bool receives_result() const { return root < 0 || buffer->self() == root; }
    void run() const {
        if (op->bytes() > buffer->slot_capacity() || is_combining_shared())
            run_large();
        else
            root >= 0 ? run_rooted() : run_small();
    }

    [[nodiscard]] bool is_combining_shared() const {
        return root < 0 && !buffer->uses_flags() && op->bytes() >= static_cast<size_t>(shared_min.get());
    }

    // Combines elements [from, to) of all slots into the slot of the last rank.
    void combine_in_buffer(uint32_t k, int64_t from, int64_t to) const {
        const int last = buffer->members() - 1;
        const auto step = static_cast<int64_t>(std::max<size_t>(1, block_bytes / op->element_bytes));
        for (int64_t at = from; at < to; at += step) {
            const int64_t n = std::min(step, to - at);
            const size_t offset = static_cast<size_t>(at) * op->element_bytes;
            for (int r = last - 1; r >= 0; --r)
                (*op)(buffer->slot(k, r) + offset, buffer->slot(k, last) + offset, n);
        }
    }

    // The root need not write its contribution to the buffer, since no other rank reads it, unless the
    // result would overwrite it.
    [[nodiscard]] bool reads_own_input() const {
        return root == buffer->self() && (input != result || root == buffer->members() - 1);
    }

    // Combines all contributions into the result of this rank.
    void combine_into_result(uint32_t k) const {
        for (int r = buffer->members() - 1; r >= 0; --r) {
            if (buffer->uses_flags() && r != buffer->self()) buffer->wait_flag(k, r);
            const std::byte* contribution =
                r == buffer->self() && reads_own_input() ? input : buffer->slot(k, r);
            if (r != buffer->members() - 1)
                (*op)(contribution, result, op->count);
            else if (contribution != result)
                std::memcpy(result, contribution, op->bytes());
        }
    }

    void run_small() const {
        const uint32_t k = buffer->begin(Leave::together, signature);
        write(k, 0, op->count);
        if (buffer->uses_flags()) {
            buffer->set_flag(k);
            combine_into_result(k);
            buffer->set_all_arrived(k);
        } else {
            if (buffer->arrive(k)) {
                combine_in_buffer(k, 0, op->count);
                buffer->release(k);
            } else {
                buffer->wait_release(k);
            }
            buffer->set_all_arrived(k);
            std::memcpy(result, buffer->slot(k, buffer->members() - 1), op->bytes());
        }
    }

    // The root combines; the others return once their contribution is written.
    void run_rooted() const {
        const uint32_t k = buffer->begin(Leave::early, signature);
        if (!reads_own_input()) write(k, 0, op->count);
        if (!receives_result()) return buffer->arrive_and_leave(k);
        if (!buffer->uses_flags()) buffer->arrive_and_wait(k);
        combine_into_result(k);
    }

    void run_large() const {
        const int64_t chunk = static_cast<int64_t>(buffer->slot_capacity() / op->element_bytes);
        const auto length = [&](int64_t from) { return std::min(chunk, op->count - from); };
        const int p = buffer->members();
        uint32_t k = buffer->begin(Leave::together, signature);
        write(k, 0, length(0));
        buffer->sync(k, 1);
        for (int64_t from = 0; from < op->count; from += chunk) {
            const int64_t n = length(from);
            combine_in_buffer(k, n * buffer->self() / p, n * (buffer->self() + 1) / p);
            const int64_t next = from + chunk;
            const bool ends = next >= op->count && root >= 0; // only the root waits for the last chunk
            const uint32_t k_next = buffer->begin(ends ? Leave::early : Leave::together, signature, 1);
            if (next < op->count) write(k_next, next, length(next));
            if (!ends)
                buffer->sync(k_next, 1);
            else
                receives_result() ? buffer->arrive_and_wait(k_next) : buffer->arrive_and_leave(k_next);
            if (receives_result())
                std::memcpy(result + static_cast<size_t>(from) * op->element_bytes, buffer->slot(k, p - 1),
                            static_cast<size_t>(n) * op->element_bytes);
            k = k_next;
        }
    }

    void write(uint32_t k, int64_t from, int64_t n) const {
        std::memcpy(buffer->slot(k, buffer->self()), input + static_cast<size_t>(from) * op->element_bytes,
                    static_cast<size_t>(n) * op->element_bytes);
    }
};

bool run_reduce(Collective& c, Team& t, const void* input, void* result, int root) {
    const ReduceOp& op = c.schedule().op();
    CollBuffer* buffer = coll_buffer_for(c, t, op.bytes());
    return buffer != nullptr &&
           run_task(c, ReduceTask{buffer,
                                  &op,
                                  static_cast<const std::byte*>(input),
                                  static_cast<std::byte*>(result),
                                  root,
                                  {c.sequence(), root < 0 ? CollKind::allreduce : CollKind::reduce,
                                   op.bytes(), root}});
}

} // namespace

bool reduce(Collective& c, Team& t, const void* input, void* result, int root) {
    return run_reduce(c, t, input, result, root);
}

bool allreduce(Collective& c, Team& t, const void* input, void* result) {
    return run_reduce(c, t, input, result, -1);
}

} // namespace zipmpi::proto::coll::shm
