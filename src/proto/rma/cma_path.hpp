// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on the private memory of a target on this node: CMA copies, or target-assisted transfers of
// noncontiguous data (assist.hpp). Complete on return.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/target_table.hpp"
#include "proto/rma/typed_buffer.hpp"

#include <memory>

namespace zipmpi::proto::rma {

class AttachedRanges;
class TargetAssist;
struct IovChunk;

class CmaPath {
  public:
    explicit CmaPath(const TargetTable& targets);
    ~CmaPath();
    CmaPath(const CmaPath&) = delete;
    CmaPath& operator=(const CmaPath&) = delete;

    // Posts requests to targets, and serves those of other members on the memory of this rank.
    void start_assist(const AttachedRanges& attached);

    Err put(int rank, const TypedBuffer& here, const TypedBuffer& there);
    Err get(int rank, const TypedBuffer& here, const TypedBuffer& there);
    Err accumulate(int rank, const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                   const TypedBuffer& there);
    Err compare_and_swap(int rank, const CompareSwapOp& s, const void* compare, const void* value,
                         void* fetched, std::byte* there);

  private:
    Err transfer(int rank, Direction direction, const TypedBuffer& here, const TypedBuffer& there);
    bool try_assist(int rank, Direction direction, const TypedBuffer& here, const TypedBuffer& there,
                    IovChunk& chunk);
    Err copy(int rank, Direction direction, std::byte* local, uint64_t bytes, const iovec* iov, size_t count);
    Err accumulate_chunk(int rank, const AccumulateOp& c, const IovChunk& chunk, const std::byte* in,
                         std::byte* fetched);

    const TargetTable& targets_;
    ScratchBuffers scratch_;
    std::unique_ptr<TargetAssist> assist_; // null: no private memory, or the window spans hosts
};

} // namespace zipmpi::proto::rma
