// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "process_group.hpp"

#include <random>

namespace zipmpi_torch {
namespace {

constexpr int tag_limit = 32767; // of tags for the creation of communicators; every MPI has this many

const at::Tensor& only_one(const Tensors& tensors) {
    TORCH_CHECK(tensors.size() == 1, "zipmpi: one tensor per call, not ", tensors.size());
    return tensors[0];
}

void check_memory(const at::Tensor& tensor) {
    TORCH_CHECK(tensor.device().is_cpu() && tensor.layout() == at::kStrided,
                "zipmpi: dense tensors in host memory only");
}

// Elements of all tensors one after the other; the tensor itself if it is only one and contiguous.
at::Tensor flat(const Tensors& tensors) {
    TORCH_CHECK(!tensors.empty(), "zipmpi: no tensors");
    if (tensors.size() == 1 && tensors[0].is_contiguous()) {
        check_memory(tensors[0]);
        return tensors[0];
    }
    Tensors rows;
    for (const at::Tensor& t : tensors) {
        check_memory(t);
        TORCH_CHECK(t.scalar_type() == tensors[0].scalar_type(), "zipmpi: tensors of one type per call");
        rows.push_back(t.detach().reshape(-1));
    }
    return at::cat(rows);
}

// Memory for as many elements; the tensor itself if it is only one and contiguous.
at::Tensor room_for(const Tensors& tensors) {
    int64_t count = 0;
    for (const at::Tensor& t : tensors) {
        check_memory(t);
        count += t.numel();
    }
    if (tensors.size() == 1 && tensors[0].is_contiguous()) return tensors[0];
    return at::empty({count}, tensors.at(0).options().requires_grad(false));
}

void copy_out(const at::Tensor& from, const Tensors& to) {
    int64_t at = 0;
    for (const at::Tensor& t : to) {
        t.copy_(from.narrow(0, at, t.numel()).view(t.sizes()));
        at += t.numel();
    }
}

// Copies the buffer into the tensors when the operation is complete, unless it is their memory.
void copy_on_completion(Operation& operation, const at::Tensor& buffer, const Tensors& to) {
    if (to.size() == 1 && buffer.data_ptr() == to[0].data_ptr() && to[0].is_contiguous()) return;
    operation.finish = [buffer, to, before = std::move(operation.finish)] {
        if (before) before();
        copy_out(buffer, to);
    };
}

void divide_on_completion(Operation& operation, const c10d::ReduceOp& op, at::Tensor buffer, int by) {
    if (is_average(op)) operation.finish = [buffer, by] { buffer.div_(by); };
}

// The communicator of a group that is a part of the world. Its members find each other through the store.
MPI_Comm create_part(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size) {
    const auto to_bytes = [](int number) {
        const std::string text = std::to_string(number);
        return std::vector<uint8_t>(text.begin(), text.end());
    };
    const auto get = [&](const std::string& key) {
        const std::vector<uint8_t> bytes = store->get(key);
        return std::stoi(std::string(bytes.begin(), bytes.end()));
    };
    int own = 0;
    check(MPI_Comm_rank(MPI_COMM_WORLD, &own));
    store->set("zipmpi/rank/" + std::to_string(rank), to_bytes(own));
    if (rank == 0) store->set("zipmpi/tag", to_bytes(static_cast<int>(std::random_device()() % tag_limit)));
    std::vector<int> ranks(static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) ranks[static_cast<size_t>(i)] = get("zipmpi/rank/" + std::to_string(i));
    const int tag = get("zipmpi/tag");
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group part = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    check(MPI_Comm_group(MPI_COMM_WORLD, &world));
    check(MPI_Group_incl(world, size, ranks.data(), &part));
    check(MPI_Comm_create_group(MPI_COMM_WORLD, part, tag, &comm));
    MPI_Group_free(&part);
    MPI_Group_free(&world);
    return comm;
}

Sizes sizes_of(const Tensors& tensors) {
    Sizes sizes;
    for (const at::Tensor& t : tensors) sizes.push_back(t.numel());
    return sizes;
}

// Elements of the rows for each rank. rows: empty for equal parts.
Sizes sizes_of_rows(const at::Tensor& tensor, const std::vector<int64_t>& rows, int ranks) {
    const int64_t all = tensor.dim() > 0 ? tensor.size(0) : 0;
    TORCH_CHECK(!rows.empty() || all % ranks == 0, "zipmpi: the rows of alltoall cannot be divided equally");
    const int64_t each = all > 0 ? tensor.numel() / all : 0;
    Sizes sizes(static_cast<size_t>(ranks), all / ranks * each);
    if (!rows.empty()) sizes.clear();
    for (const int64_t n : rows) sizes.push_back(n * each);
    return sizes;
}

} // namespace

MpiGroup::MpiGroup(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, Milliseconds timeout)
    : Base(rank, size)
    , timeout_(timeout) {
    int world = 0;
    check(MPI_Comm_size(MPI_COMM_WORLD, &world));
    TORCH_CHECK(size <= world, "zipmpi: a group of ", size, " processes, but MPI has ", world,
                "; start the program with mpiexec or torchrun, which tell MPI the number");
    if (size == world)
        check(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm_));
    else
        comm_ = create_part(store, rank, size);
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
}

MpiGroup::~MpiGroup() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0 && !MpiWork::any_timed_out()) MPI_Comm_free(&comm_);
}

MpiGroup::MpiWorkPointer MpiGroup::begin(c10d::OpType type, Tensors result, Milliseconds timeout) {
    ++calls_;
    return c10::make_intrusive<MpiWork>(type, std::move(result),
                                        timeout > Milliseconds(0) ? timeout : timeout_);
}

WorkPointer MpiGroup::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
    const at::Tensor buffer = flat({only_one(tensors)});
    auto work = begin(c10d::OpType::BROADCAST, tensors, options.timeout);
    work->operation->buffers = {buffer};
    copy_on_completion(*work->operation, buffer, tensors);
    check(MPI_Ibcast_c(buffer.data_ptr(), buffer.numel(), datatype_of(buffer.scalar_type()),
                       static_cast<int>(options.rootRank), comm_, &work->operation->request));
    return work;
}

WorkPointer MpiGroup::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
    only_one(tensors);
    return reduce_all(c10d::OpType::ALLREDUCE, tensors, options);
}

WorkPointer MpiGroup::allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) {
    return reduce_all(c10d::OpType::ALLREDUCE_COALESCED, tensors, options);
}

WorkPointer MpiGroup::reduce_all(c10d::OpType kind, const Tensors& tensors,
                                 const c10d::AllreduceOptions& options) {
    const at::Tensor buffer = flat(tensors);
    const at::ScalarType type = buffer.scalar_type();
    auto work = begin(kind, tensors, options.timeout);
    Operation& operation = *work->operation;
    operation.buffers = {buffer};
    divide_on_completion(operation, options.reduceOp, buffer, size_);
    copy_on_completion(operation, buffer, tensors);
    check(MPI_Iallreduce_c(MPI_IN_PLACE, buffer.data_ptr(), buffer.numel(), datatype_of(type),
                           op_of(options.reduceOp, type), comm_, &operation.request));
    return work;
}

WorkPointer MpiGroup::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
    const at::Tensor buffer = flat({only_one(tensors)});
    const at::ScalarType type = buffer.scalar_type();
    const bool is_root = options.rootRank == rank_;
    auto work = begin(c10d::OpType::REDUCE, tensors, options.timeout);
    Operation& operation = *work->operation;
    operation.buffers = {buffer};
    if (is_root) {
        divide_on_completion(operation, options.reduceOp, buffer, size_);
        copy_on_completion(operation, buffer, tensors);
    }
    check(MPI_Ireduce_c(is_root ? MPI_IN_PLACE : buffer.data_ptr(), is_root ? buffer.data_ptr() : nullptr,
                        buffer.numel(), datatype_of(type), op_of(options.reduceOp, type),
                        static_cast<int>(options.rootRank), comm_, &operation.request));
    return work;
}

// result: for each rank the same number of elements.
MpiGroup::MpiWorkPointer MpiGroup::gather_all(c10d::OpType type, Tensors result, at::Tensor from,
                                              Milliseconds timeout) {
    const at::Tensor buffer = room_for(result);
    TORCH_CHECK(buffer.numel() == from.numel() * size_ && buffer.scalar_type() == from.scalar_type(),
                "zipmpi: the result of allgather has another size or type than all inputs");
    auto work = begin(type, result, timeout);
    Operation& operation = *work->operation;
    operation.buffers = {buffer, from};
    copy_on_completion(operation, buffer, result);
    const MPI_Datatype datatype = datatype_of(from.scalar_type());
    check(MPI_Iallgather_c(from.data_ptr(), from.numel(), datatype, buffer.data_ptr(), from.numel(), datatype,
                           comm_, &operation.request));
    return work;
}

WorkPointer MpiGroup::allgather(TensorLists& to, Tensors& from, const c10d::AllgatherOptions& options) {
    TORCH_CHECK(to.size() == 1, "zipmpi: one list of tensors per call");
    return gather_all(c10d::OpType::ALLGATHER, to[0], flat({only_one(from)}), options.timeout);
}

WorkPointer MpiGroup::_allgather_base(at::Tensor& to, at::Tensor& from,
                                      const c10d::AllgatherOptions& options) {
    return gather_all(c10d::OpType::_ALLGATHER_BASE, {to}, flat({from}), options.timeout);
}

WorkPointer MpiGroup::allgather_coalesced(TensorLists& to, Tensors& from,
                                          const c10d::AllgatherOptions& options) {
    Tensors all;
    for (const Tensors& of_rank : to) all.insert(all.end(), of_rank.begin(), of_rank.end());
    return gather_all(c10d::OpType::ALLGATHER_COALESCED, all, flat(from), options.timeout);
}

WorkPointer MpiGroup::gather(TensorLists& to, Tensors& from, const c10d::GatherOptions& options) {
    const at::Tensor own = flat({only_one(from)});
    const bool is_root = options.rootRank == rank_;
    TORCH_CHECK(!is_root || (to.size() == 1 && to[0].size() == static_cast<size_t>(size_)),
                "zipmpi: the root of gather needs one tensor for each rank");
    auto work = begin(c10d::OpType::GATHER, is_root ? to[0] : Tensors(), options.timeout);
    Operation& operation = *work->operation;
    operation.buffers = {own};
    if (is_root) {
        operation.buffers.push_back(room_for(to[0]));
        TORCH_CHECK(operation.buffers[1].numel() == own.numel() * size_,
                    "zipmpi: tensors of gather have equal sizes");
        copy_on_completion(operation, operation.buffers[1], to[0]);
    }
    const MPI_Datatype type = datatype_of(own.scalar_type());
    check(MPI_Igather_c(own.data_ptr(), own.numel(), type,
                        is_root ? operation.buffers[1].data_ptr() : nullptr, own.numel(), type,
                        static_cast<int>(options.rootRank), comm_, &operation.request));
    return work;
}

WorkPointer MpiGroup::scatter(Tensors& to, TensorLists& from, const c10d::ScatterOptions& options) {
    const at::Tensor own = room_for({only_one(to)});
    const bool is_root = options.rootRank == rank_;
    TORCH_CHECK(!is_root || (from.size() == 1 && from[0].size() == static_cast<size_t>(size_)),
                "zipmpi: the root of scatter needs one tensor for each rank");
    auto work = begin(c10d::OpType::SCATTER, to, options.timeout);
    Operation& operation = *work->operation;
    operation.buffers = {own};
    if (is_root) {
        operation.buffers.push_back(flat(from[0]));
        TORCH_CHECK(operation.buffers[1].numel() == own.numel() * size_,
                    "zipmpi: tensors of scatter have equal sizes");
    }
    copy_on_completion(operation, own, to);
    const MPI_Datatype type = datatype_of(own.scalar_type());
    check(MPI_Iscatter_c(is_root ? operation.buffers[1].data_ptr() : nullptr, own.numel(), type,
                         own.data_ptr(), own.numel(), type, static_cast<int>(options.rootRank), comm_,
                         &operation.request));
    return work;
}

MpiGroup::MpiWorkPointer MpiGroup::reduce_blocks(c10d::OpType type, const at::Tensor& to, at::Tensor from,
                                                 const c10d::ReduceScatterOptions& options) {
    const at::Tensor own = room_for({to});
    TORCH_CHECK(from.numel() == own.numel() * size_, "zipmpi: tensors of reduce_scatter have equal sizes");
    auto work = begin(type, {to}, options.timeout);
    Operation& operation = *work->operation;
    operation.buffers = {own, from};
    divide_on_completion(operation, options.reduceOp, own, size_);
    copy_on_completion(operation, own, {to});
    check(MPI_Ireduce_scatter_block_c(from.data_ptr(), own.data_ptr(), own.numel(),
                                      datatype_of(own.scalar_type()),
                                      op_of(options.reduceOp, own.scalar_type()), comm_, &operation.request));
    return work;
}

WorkPointer MpiGroup::reduce_scatter(Tensors& to, TensorLists& from,
                                     const c10d::ReduceScatterOptions& options) {
    TORCH_CHECK(from.size() == 1, "zipmpi: one list of tensors per call");
    return reduce_blocks(c10d::OpType::REDUCE_SCATTER, only_one(to), flat(from[0]), options);
}

WorkPointer MpiGroup::_reduce_scatter_base(at::Tensor& to, at::Tensor& from,
                                           const c10d::ReduceScatterOptions& options) {
    return reduce_blocks(c10d::OpType::_REDUCE_SCATTER_BASE, to, flat({from}), options);
}

// sizes: number of elements from and to each rank.
WorkPointer MpiGroup::exchange(c10d::OpType type, const Tensors& to, const Tensors& from,
                               const Sizes& to_sizes, const Sizes& from_sizes, Milliseconds timeout) {
    const auto n = static_cast<size_t>(size_);
    TORCH_CHECK(to_sizes.size() == n && from_sizes.size() == n,
                "zipmpi: alltoall needs a part for each rank");
    auto work = begin(type, to, timeout);
    Operation& operation = *work->operation;
    operation.buffers = {room_for(to), flat(from)};
    operation.counts = from_sizes;
    operation.counts.insert(operation.counts.end(), to_sizes.begin(), to_sizes.end());
    operation.displacements.resize(2 * n);
    for (size_t i = 1; i < n; ++i)
        for (const size_t side : {i, n + i})
            operation.displacements[side] =
                operation.displacements[side - 1] + static_cast<MPI_Aint>(operation.counts[side - 1]);
    copy_on_completion(operation, operation.buffers[0], to);
    const MPI_Datatype datatype = datatype_of(operation.buffers[1].scalar_type());
    check(MPI_Ialltoallv_c(operation.buffers[1].data_ptr(), operation.counts.data(),
                           operation.displacements.data(), datatype, operation.buffers[0].data_ptr(),
                           operation.counts.data() + n, operation.displacements.data() + n, datatype, comm_,
                           &operation.request));
    return work;
}

WorkPointer MpiGroup::alltoall_base(at::Tensor& to, at::Tensor& from, std::vector<int64_t>& to_rows,
                                    std::vector<int64_t>& from_rows, const c10d::AllToAllOptions& options) {
    return exchange(c10d::OpType::ALLTOALL_BASE, {to}, {from}, sizes_of_rows(to, to_rows, size_),
                    sizes_of_rows(from, from_rows, size_), options.timeout);
}

WorkPointer MpiGroup::alltoall(Tensors& to, Tensors& from, const c10d::AllToAllOptions& options) {
    return exchange(c10d::OpType::ALLTOALL, to, from, sizes_of(to), sizes_of(from), options.timeout);
}

WorkPointer MpiGroup::send(Tensors& tensors, int to, int tag) {
    const at::Tensor buffer = flat({only_one(tensors)});
    auto work = begin(c10d::OpType::SEND, tensors, timeout_);
    work->operation->buffers = {buffer};
    check(MPI_Isend_c(buffer.data_ptr(), buffer.numel(), datatype_of(buffer.scalar_type()), to, tag, comm_,
                      &work->operation->request));
    return work;
}

WorkPointer MpiGroup::receive(c10d::OpType type, Tensors& tensors, int from, int tag) {
    const at::Tensor buffer = room_for({only_one(tensors)});
    auto work = begin(type, tensors, timeout_);
    work->operation->buffers = {buffer};
    copy_on_completion(*work->operation, buffer, tensors);
    check(MPI_Irecv_c(buffer.data_ptr(), buffer.numel(), datatype_of(buffer.scalar_type()), from, tag, comm_,
                      &work->operation->request));
    return work;
}

WorkPointer MpiGroup::recv(Tensors& tensors, int from, int tag) {
    return receive(c10d::OpType::RECV, tensors, from, tag);
}

WorkPointer MpiGroup::recvAnysource(Tensors& tensors, int tag) {
    return receive(c10d::OpType::RECVANYSOURCE, tensors, MPI_ANY_SOURCE, tag);
}

WorkPointer MpiGroup::barrier(const c10d::BarrierOptions& options) {
    auto work = begin(c10d::OpType::BARRIER, {}, options.timeout);
    check(MPI_Ibarrier(comm_, &work->operation->request));
    return work;
}

} // namespace zipmpi_torch
