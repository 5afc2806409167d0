// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Splits one-sided operations into requests of active messages.
#include "proto/rma/am_origin.hpp"
#include "proto/rma/iov_chunk.hpp"

namespace zipmpi::proto::rma {
namespace {

// A request, preceded by one for a lock, must fit into an empty batch, and its reply into an empty batch
// reply.
constexpr uint64_t head_bytes = sizeof(wire::RmaBatch) + 2 * sizeof(wire::RmaRequest) +
                                wire::rma_request_segments * sizeof(wire::RmaSegment);

} // namespace

Err Window::no_memory_error() {
    return fail(Err::no_mem, "complete operations before starting more",
                "out of memory for a one-sided operation");
}

Err Window::send_requests(int rank, wire::RmaKind kind, const AccumulateOp* c, const TypedBuffer& here,
                          const TypedBuffer& there, const TypedBuffer& result, const FetchFactory& maker) {
    const bool sends = kind != wire::RmaKind::get && (c == nullptr || c->writes());
    const bool fetches = kind == wire::RmaKind::get || kind == wire::RmaKind::get_accumulate;
    FetchOp* const fetch = fetches ? maker.make(maker.context) : nullptr;
    if (fetches && fetch == nullptr) return no_memory_error();
    if (fetches) fetch->result = result;
    AmPath::TargetQueue& queue = am_->queue_to(rank);
    const ChunkLimits limits{queue.max_batch_bytes - head_bytes, c != nullptr ? c->element_bytes : 1,
                             wire::rma_request_segments};
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, limits);
        am_->add(queue, {kind, c != nullptr ? c->code : 0, chunk.iov, chunk.count, here, chunk.from,
                         sends ? chunk.bytes : 0, fetch, chunk.from, fetches ? chunk.bytes : 0});
    }
    if (fetches && maker.immediate) am_->send_batch(queue, false);
    if (fetches) fetch->complete_part();
    return Err::success;
}

Err Window::send_swap(int rank, const CompareSwapOp& s, const void* compare, const void* value, void* fetched,
                      std::byte* there, const FetchFactory& maker) {
    FetchOp* const fetch = maker.make(maker.context);
    if (fetch == nullptr) return no_memory_error();
    fetch->result = {static_cast<std::byte*>(fetched), nullptr, 0, s.bytes};
    std::byte both[32];
    std::memcpy(both, compare, s.bytes);
    std::memcpy(both + s.bytes, value, s.bytes);
    const iovec segment{there, s.bytes};
    const uint64_t sent = 2 * uint64_t{s.bytes};
    am_->add(am_->queue_to(rank), {wire::RmaKind::compare_and_swap, s.code, &segment, 1,
                                   TypedBuffer{both, nullptr, 0, sent}, 0, sent, fetch, 0, s.bytes});
    fetch->complete_part();
    return Err::success;
}

} // namespace zipmpi::proto::rma
