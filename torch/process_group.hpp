// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The backend `zipmpi` of torch.distributed: a group of processes with its own communicator. Tensors are in
// host memory; those that are not contiguous are copied.
#pragma once

#include "work.hpp"

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/version.h>
#if TORCH_VERSION_MAJOR >= 2
#include <torch/csrc/distributed/c10d/Backend.hpp>
#endif

namespace zipmpi_torch {

#if TORCH_VERSION_MAJOR >= 2
using Base = c10d::Backend;
#else
using Base = c10d::ProcessGroup;
#endif
using WorkPointer = c10::intrusive_ptr<c10d::Work>;
using Tensors = std::vector<at::Tensor>;
using TensorLists = std::vector<std::vector<at::Tensor>>;
using Sizes = std::vector<MPI_Count>;

class MpiGroup : public Base {
  public:
    // rank, size: in the group. store: of the group; used if the group is a part of the world.
    MpiGroup(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, Milliseconds timeout);
    ~MpiGroup() override;
    const std::string getBackendName() const override { return "zipmpi"; }
    void setSequenceNumberForGroup() override {}
    uint64_t getSequenceNumberForGroup() override { return calls_; }

    WorkPointer broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
    WorkPointer allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
    WorkPointer allreduce_coalesced(Tensors& tensors,
                                    const c10d::AllreduceCoalescedOptions& options) override;
    WorkPointer reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
    WorkPointer allgather(TensorLists& to, Tensors& from, const c10d::AllgatherOptions& options) override;
    WorkPointer _allgather_base(at::Tensor& to, at::Tensor& from,
                                const c10d::AllgatherOptions& options) override;
    WorkPointer allgather_coalesced(TensorLists& to, Tensors& from,
                                    const c10d::AllgatherOptions& options) override;
    WorkPointer gather(TensorLists& to, Tensors& from, const c10d::GatherOptions& options) override;
    WorkPointer scatter(Tensors& to, TensorLists& from, const c10d::ScatterOptions& options) override;
    WorkPointer reduce_scatter(Tensors& to, TensorLists& from,
                               const c10d::ReduceScatterOptions& options) override;
    WorkPointer _reduce_scatter_base(at::Tensor& to, at::Tensor& from,
                                     const c10d::ReduceScatterOptions& options) override;
    WorkPointer alltoall_base(at::Tensor& to, at::Tensor& from, std::vector<int64_t>& to_rows,
                              std::vector<int64_t>& from_rows, const c10d::AllToAllOptions& options) override;
    WorkPointer alltoall(Tensors& to, Tensors& from, const c10d::AllToAllOptions& options) override;
    WorkPointer send(Tensors& tensors, int to, int tag) override;
    WorkPointer recv(Tensors& tensors, int from, int tag) override;
    WorkPointer recvAnysource(Tensors& tensors, int tag) override;
    WorkPointer barrier(const c10d::BarrierOptions& options) override;

  private:
    using MpiWorkPointer = c10::intrusive_ptr<MpiWork>;
    MpiWorkPointer begin(c10d::OpType type, Tensors result, Milliseconds timeout);
    MpiWorkPointer gather_all(c10d::OpType type, Tensors result, at::Tensor from, Milliseconds timeout);
    MpiWorkPointer reduce_blocks(c10d::OpType type, const at::Tensor& to, at::Tensor from,
                                 const c10d::ReduceScatterOptions& options);
    WorkPointer reduce_all(c10d::OpType kind, const Tensors& tensors, const c10d::AllreduceOptions& options);
    WorkPointer exchange(c10d::OpType type, const Tensors& to, const Tensors& from, const Sizes& to_sizes,
                         const Sizes& from_sizes, Milliseconds timeout);
    WorkPointer receive(c10d::OpType type, Tensors& tensors, int from, int tag);

    MPI_Comm comm_ = MPI_COMM_NULL;
    Milliseconds timeout_;
    std::atomic<uint64_t> calls_{0};
};

} // namespace zipmpi_torch
