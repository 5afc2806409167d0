// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on the memory of a target by RDMA. Contiguous origin buffers are used in place until the
// operations are flushed. Noncontiguous and short ones are packed into a staging buffer: many programs modify
// a short buffer too early, and copying costs little.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/fetch_op.hpp"
#include "proto/rma/rdma_connections.hpp"
#include "proto/rma/rdma_modes.hpp"
#include "proto/rma/target_table.hpp"

#include <vector>

namespace zipmpi::proto::rma {

class AmPath;
class PendingOperations;

class RdmaPath {
  public:
    RdmaPath(const TargetTable& targets, RdmaConnections& connections, AmPath& am, PendingOperations& pending,
             DeferredError& failure, RdmaModes::Atomics atomics, WindowPolicy::AccumulateOrder order);

    // By active message if the target is unreachable.
    Err put(int rank, const TypedBuffer& here, const TypedBuffer& there, FetchFactory& factory);
    Err get(int rank, const TypedBuffer& here, const TypedBuffer& there, FetchFactory& factory);

    // Whether RDMA atomics execute the operation, even on a target of this node. If CPU and RDMA atomics must
    // not be mixed, the answer depends only on window, type and address.
    [[nodiscard]] bool can_accumulate(int rank, const AccumulateOp& c, const TypedBuffer& there) const;
    [[nodiscard]] bool can_swap(int rank, const CompareSwapOp& s, const std::byte* there) const;
    Err accumulate(int rank, const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                   const TypedBuffer& there, FetchFactory& factory);
    Err compare_and_swap(int rank, const void* compare, const void* value, void* fetched, std::byte* there,
                         FetchFactory& factory);

    // Preserves the order of accumulates of one origin across access paths: a change of path flushes first.
    enum class AccumulatePath : uint8_t { none, rdma, am };
    void order_accumulates(int rank, AccumulatePath path);

  private:
    [[nodiscard]] transport::RemoteAddress remote(int rank, const std::byte* address) const;
    [[nodiscard]] bool is_aligned(int rank, const TypedBuffer& there) const;
    [[nodiscard]] transport::RdmaDevice& device() { return connections_.context().device(); }
    Err add_completion(int endpoint, FetchFactory& factory);
    std::byte* stage_result(int endpoint, FetchOp& fetch, uint64_t from, uint64_t bytes,
                            const FetchFactory& factory);
    void limit_held_memory(int rank);
    uint64_t update_word(int rank, int endpoint, const AccumulateOp& c, uint64_t in,
                         const transport::RemoteAddress& word);
    void update(int rank, int endpoint, const AccumulateOp& c, const TypedBuffer& here,
                const TypedBuffer& result, const TypedBuffer& there);
    Err fetch_add(int rank, int endpoint, const AccumulateOp& c, const TypedBuffer& here,
                  const TypedBuffer& result, const TypedBuffer& there, FetchFactory& factory);

    const TargetTable& targets_;
    RdmaConnections& connections_;
    AmPath& am_;
    PendingOperations& pending_;
    DeferredError& failure_;
    RdmaModes::Atomics atomics_;
    WindowPolicy::AccumulateOrder accumulate_order_;
    os::LazyTable<AccumulatePath> last_paths_; // by target: path of the last accumulate
    uint64_t discard_word_ = 0;                // sink for unused fetch results
};

} // namespace zipmpi::proto::rma
