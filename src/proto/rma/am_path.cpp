// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/am_path.hpp"

#include "proto/rma/iov_chunk.hpp"
#include "proto/rma/window_waiter.hpp"

namespace zipmpi::proto::rma {
namespace {

// A request, preceded by one for a lock, must fit into an empty batch, and its reply into an empty batch
// reply.
constexpr uint64_t head_bytes = sizeof(wire::RmaBatch) + 2 * sizeof(wire::RmaRequest) +
                                wire::rma_request_segments * sizeof(wire::RmaSegment);

} // namespace

AmPath::AmPath(TargetTable& targets, WindowWaiter& waiter, DeferredError& failure,
               const AttachedRanges& attached, const OpDecoder& decoder)
    : waiter_(waiter)
    , messenger_(targets.team())
    , origin_(targets, messenger_, waiter, failure)
    , target_(targets, messenger_, attached, decoder) {}

void AmPath::use_rdma(RdmaConnections& connections) {
    origin_.use_rdma(connections);
    target_.use_rdma(connections);
}

// Splits an operation into requests.
void AmPath::add_requests(TargetQueue& queue, const Transfer& t, const TypedBuffer& there) {
    const ChunkLimits limits{queue.max_batch_bytes - head_bytes, t.op != nullptr ? t.op->element_bytes : 1,
                             wire::rma_request_segments};
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, limits);
        origin_.add(queue,
                    {t.kind, t.op != nullptr ? t.op->code : 0, chunk.iov, chunk.count, t.here, chunk.from,
                     t.sends ? chunk.bytes : 0, t.fetch, chunk.from, t.fetch != nullptr ? chunk.bytes : 0});
    }
}

Err AmPath::fetch_by_requests(int rank, Transfer transfer, const TypedBuffer& result,
                              const TypedBuffer& there, FetchFactory& factory) {
    if (const Err e = waiter_.failure_of(-1); e != Err::success) return e; // see AmOrigin
    transfer.fetch = factory.make();
    if (transfer.fetch == nullptr) return no_memory_error();
    transfer.fetch->result = result;
    TargetQueue& queue = origin_.queue_to(rank);
    add_requests(queue, transfer, there);
    if (factory.immediate()) origin_.send_batch(queue, AmOrigin::Ack::none);
    transfer.fetch->complete_part();
    return Err::success;
}

Err AmPath::put(int rank, const TypedBuffer& here, const TypedBuffer& there) {
    if (const Err e = waiter_.failure_of(-1); e != Err::success) return e;
    add_requests(origin_.queue_to(rank), {wire::RmaKind::put, nullptr, here, true}, there);
    return Err::success;
}

Err AmPath::get(int rank, const TypedBuffer& here, const TypedBuffer& there, FetchFactory& factory) {
    return fetch_by_requests(rank, {wire::RmaKind::get}, here, there, factory);
}

Err AmPath::accumulate(int rank, const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                       const TypedBuffer& there, FetchFactory& factory) {
    if (result.bytes != 0)
        return fetch_by_requests(rank, {wire::RmaKind::get_accumulate, &c, here, c.writes()}, result, there,
                                 factory);
    if (const Err e = waiter_.failure_of(-1); e != Err::success) return e;
    add_requests(origin_.queue_to(rank), {wire::RmaKind::accumulate, &c, here, c.writes()}, there);
    return Err::success;
}

Err AmPath::compare_and_swap(int rank, const CompareSwapOp& s, const void* compare, const void* value,
                             void* fetched, std::byte* there, FetchFactory& factory) {
    if (const Err e = waiter_.failure_of(-1); e != Err::success) return e;
    FetchOp* const fetch = factory.make();
    if (fetch == nullptr) return no_memory_error();
    fetch->result = {static_cast<std::byte*>(fetched), nullptr, 0, s.bytes};
    std::byte both[32];
    std::memcpy(both, compare, s.bytes);
    std::memcpy(both + s.bytes, value, s.bytes);
    const iovec segment{there, s.bytes};
    const uint64_t sent = 2 * uint64_t{s.bytes};
    origin_.add(origin_.queue_to(rank), {wire::RmaKind::compare_and_swap, s.code, &segment, 1,
                                         TypedBuffer{both, nullptr, 0, sent}, 0, sent, fetch, 0, s.bytes});
    fetch->complete_part();
    return Err::success;
}

} // namespace zipmpi::proto::rma
