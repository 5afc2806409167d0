// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Partitioned communication (chapter 4).
#include "core/api/partitioned.hpp"
#include "core/partitioned/channel.hpp"
#include "proto/progress/wait.hpp"

#include <new>

namespace zipmpi::core {
namespace {

PartitionedChannel& channel_of(Request& request) {
    return static_cast<PartitionedChannel&>(*request.compound);
}

Err make_channel(const proto::Operation& whole, Request::Role role, int partitions, Comm& comm,
                 Datatype& type, Request*& request) {
    request = make_request(whole, &comm, type);
    if (request == nullptr) return request_alloc_error();
    request->role = role;
    request->persistent = true;
    request->active = false;
    if (whole.kind == proto::Operation::Kind::none) {
        request->is_proc_null = true;
        return Err::success;
    }
    const uint64_t partition_bytes = whole.bytes / static_cast<uint64_t>(partitions);
    auto* channel =
        new (std::nothrow) PartitionedChannel(*request, whole.buffer, partitions, partition_bytes);
    if (channel == nullptr) {
        destroy(*request);
        request = nullptr;
        return request_alloc_error();
    }
    request->compound.reset(channel);
    channel->open();
    return Err::success;
}

Err check_partitions(int partitions) {
    return partitions > 0
               ? Err::success
               : fail(Err::arg, "pass at least one partition", "the number of partitions is %d", partitions);
}

Err check_active_send(const Request& request) {
    if (request.role == Request::partitioned_send && request.active) return Err::success;
    return fail(Err::request, "call it on a started request created by MPI_Psend_init",
                request.active ? "the request is not a partitioned send" : "the request is not active");
}

} // namespace

Err psend_init(const void* buf, int partitions, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
               Info*, Request*& request) {
    if (const Err e = check_partitions(partitions); e != Err::success) return e;
    proto::Operation whole;
    if (dest != proc_null) whole = make_send_op(buf, count * partitions, type, dest, tag, comm);
    return make_channel(whole, Request::partitioned_send, partitions, comm, type, request);
}

Err precv_init(void* buf, int partitions, int64_t count, Datatype& type, int source, int tag, Comm& comm,
               Info*, Request*& request) {
    if (const Err e = check_partitions(partitions); e != Err::success) return e;
    proto::Operation whole;
    if (source != proc_null) whole = make_recv_op(buf, count * partitions, type, source, tag, comm);
    return make_channel(whole, Request::partitioned_recv, partitions, comm, type, request);
}

Err pready_range(int low, int high, Request& request) {
    if (const Err e = check_active_send(request); e != Err::success || request.is_proc_null) return e;
    for (int64_t p = low; p <= high; ++p)
        if (const Err e = channel_of(request).ready(static_cast<int>(p)); e != Err::success) return e;
    return Err::success;
}

Err pready(int partition, Request& request) { return pready_range(partition, partition, request); }

Err pready_list(int n, const int* partitions, Request& request) {
    if (n < 0) return fail(Err::arg, "pass a length of at least 0", "the list has %d partitions", n);
    if (n > 0 && partitions == nullptr)
        return fail(Err::arg, "pass a list of partitions", "array_of_partitions is a null pointer");
    for (int i = 0; i < n; ++i)
        if (const Err e = pready(partitions[i], request); e != Err::success) return e;
    return Err::success;
}

Err parrived(Request* request, int partition, bool& flag) {
    flag = true;
    if (request != nullptr && request->role != Request::partitioned_recv)
        return fail(Err::request, "call it on a request created by MPI_Precv_init",
                    "the request is not a partitioned receive");
    if (is_inactive(request) || request->is_proc_null) return Err::success;
    PartitionedChannel& channel = channel_of(*request);
    if (partition < 0 || partition >= channel.partitions())
        return fail(Err::arg, "pass a partition number from 0 to the number of partitions minus 1",
                    "partition %d of %d does not exist", partition, channel.partitions());
    if (!channel.arrived(partition)) proto::poll(progress_engine());
    flag = channel.arrived(partition);
    return flag && channel.copies != nullptr ? channel.copies->store_partition(partition) : Err::success;
}

} // namespace zipmpi::core
