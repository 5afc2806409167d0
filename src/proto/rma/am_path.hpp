// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on the memory of a target by active messages (wire/rma_layout.hpp), which the target serves.
// Owns both sides: this rank as an origin and as a target. Data is copied; results arrive later.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/am_messenger.hpp"
#include "proto/rma/am_origin.hpp"
#include "proto/rma/am_target.hpp"

namespace zipmpi::proto::rma {

class AmPath {
  public:
    AmPath(TargetTable& targets, WindowWaiter& waiter, DeferredError& failure, const AttachedRanges& attached,
           const OpDecoder& decoder);
    void use_rdma(RdmaConnections& connections);

    [[nodiscard]] AmMessenger& messenger() { return messenger_; }
    [[nodiscard]] AmOrigin& origin() { return origin_; }
    [[nodiscard]] AmTarget& target() { return target_; }

    Err put(int rank, const TypedBuffer& here, const TypedBuffer& there);
    Err get(int rank, const TypedBuffer& here, const TypedBuffer& there, FetchFactory& factory);
    Err accumulate(int rank, const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                   const TypedBuffer& there, FetchFactory& factory);
    Err compare_and_swap(int rank, const CompareSwapOp& s, const void* compare, const void* value,
                         void* fetched, std::byte* there, FetchFactory& factory);

  private:
    struct Transfer {
        wire::RmaKind kind;
        const AccumulateOp* op = nullptr; // of an accumulate
        TypedBuffer here{};               // data to send; unused if the operation sends none
        bool sends = false;
        FetchOp* fetch = nullptr; // null: fetches nothing
    };
    void add_requests(TargetQueue& queue, const Transfer& transfer, const TypedBuffer& there);
    Err fetch_by_requests(int rank, Transfer transfer, const TypedBuffer& result, const TypedBuffer& there,
                          FetchFactory& factory);

    const WindowWaiter& waiter_;
    AmMessenger messenger_;
    AmOrigin origin_;
    AmTarget target_;
};

} // namespace zipmpi::proto::rma
