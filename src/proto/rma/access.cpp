// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on a target's memory, by access path.
#include "proto/rma/assist.hpp"
#include "proto/rma/iov_chunk.hpp"
#include "proto/rma/window.hpp"

#include <optional>

namespace zipmpi::proto::rma {
namespace {

using CmaResult = transport::cma::Copier::Result;

constexpr uint64_t staged_bytes = uint64_t{64} << 10; // staging buffer; fits into the cache
constexpr uint64_t max_cma_bytes = uint64_t{1} << 30; // per system call

enum ScratchIndex { packed_origin = 3 };

void copy(const TypedBuffer& from, const TypedBuffer& to) {
    if (to.layout == nullptr) return load(from, 0, to.base, to.bytes);
    if (from.layout == nullptr) return store(to, 0, from.base, to.bytes);
    std::byte packed[8192];
    for (uint64_t done = 0; done < to.bytes;) {
        const uint64_t n = std::min<uint64_t>(sizeof packed, to.bytes - done);
        load(from, done, packed, n);
        store(to, done, packed, n);
        done += n;
    }
}

} // namespace

Err Window::cma_error(CmaResult result, int rank) const {
    if (result == CmaResult::copied) return Err::success;
    if (result == CmaResult::no_such_memory)
        return fail(Err::rma_range,
                    "access only memory that the target has in the window or has attached to it",
                    "rank %d has no memory at the accessed address", rank);
    return fail(Err::other, "set the parameter cma.enable to no",
                "CMA access to the memory of rank %d failed after earlier success", rank);
}

Err Window::move_cma(int rank, const Target& t, bool write, const TypedBuffer& here,
                     const TypedBuffer& there) {
    const bool tried_assist = assist_ != nullptr && assist_->is_single_run(there);
    if (tried_assist && assist_->transfer_run(rank, write, here, there)) return Err::success;
    const bool whole = here.layout == nullptr;
    const ChunkLimits limits{whole ? max_cma_bytes : staged_bytes, 1, IovChunk::max_segments};
    IovChunk chunk;
    auto& cma = team_.engine->cma();
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, limits);
        if (assist_ != nullptr && !tried_assist && assist_->is_worthwhile(rank, chunk.count, chunk.bytes)) {
            if (chunk.bytes > TargetAssist::max_bytes)
                chunk.fill(there, {TargetAssist::max_bytes, 1, IovChunk::max_segments});
            if (assist_->transfer(rank, write, here, chunk)) continue;
        }
        std::byte* const local = whole ? here.base + chunk.from : scratch_.get(packed_origin, staged_bytes);
        if (write && !whole) load(here, chunk.from, local, chunk.bytes);
        const iovec one{local, chunk.bytes};
        const CmaResult result = write ? cma.writev(t.peer, &one, 1, chunk.iov, chunk.count, chunk.bytes)
                                       : cma.readv(t.peer, &one, 1, chunk.iov, chunk.count, chunk.bytes);
        if (const Err e = cma_error(result, rank); e != Err::success) return e;
        if (!write && !whole) store(here, chunk.from, local, chunk.bytes);
    }
    return Err::success;
}

Err Window::put(int rank, const TypedBuffer& here, const TypedBuffer& there, const FetchFactory& maker) {
    const Target& t = target(rank);
    if (t.path() == AccessPath::shared)
        copy(here, there);
    else if (t.path() == AccessPath::cma)
        return move_cma(rank, t, true, here, there);
    else if (t.path() == AccessPath::rdma)
        return put_rdma(rank, here, there, maker);
    else
        return send_requests(rank, wire::RmaKind::put, nullptr, here, there, {}, maker);
    return Err::success;
}

Err Window::get(int rank, const TypedBuffer& here, const TypedBuffer& there, const FetchFactory& maker) {
    const Target& t = target(rank);
    if (t.path() == AccessPath::shared)
        copy(there, here);
    else if (t.path() == AccessPath::cma)
        return move_cma(rank, t, false, here, there);
    else if (t.path() == AccessPath::rdma)
        return get_rdma(rank, here, there, maker);
    else
        return send_requests(rank, wire::RmaKind::get, nullptr, {}, there, here, maker);
    return Err::success;
}

Err Window::accumulate_cma(int rank, const Target& t, const AccumulateOp& c, const iovec* iov, size_t count,
                           uint64_t bytes, const std::byte* in, std::byte* fetched) {
    auto& cma = team_.engine->cma();
    std::optional<SpinGuard> spin_guard;
    if (!t.exclusive) spin_guard.emplace(members_[rank].accumulate_lock);
    const bool reads = fetched != nullptr || c.kind == AccumulateOp::Kind::combine;
    std::byte* const there = scratch_.get(0, bytes);
    const iovec one{there, bytes};
    if (reads)
        if (const Err e = cma_error(cma.readv(t.peer, &one, 1, iov, count, bytes), rank); e != Err::success)
            return e;
    if (fetched != nullptr) std::memcpy(fetched, there, bytes);
    if (!c.writes()) return Err::success;
    ScratchBuffers elements; // for noncontiguous elements
    accumulate_packed(c, in, there, bytes, elements);
    return cma_error(cma.writev(t.peer, &one, 1, iov, count, bytes), rank);
}

Err Window::accumulate_chunk(int rank, const AccumulateOp& c, const iovec* iov, size_t count, uint64_t bytes,
                             const std::byte* in, std::byte* fetched) {
    const Target& t = peek(rank);
    if (t.path() == AccessPath::cma) return accumulate_cma(rank, t, c, iov, count, bytes, in, fetched);
    accumulate_iov(c, iov, count, in, fetched, guard_of(rank, t), scratch_);
    return Err::success;
}

Err Window::accumulate(int rank, const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                       const TypedBuffer& there, const FetchFactory& maker) {
    const Target& t = target(rank);
    const bool fetches = result.bytes != 0;
    if (can_accumulate_rdma(rank, c, there)) return accumulate_rdma(rank, c, here, result, there, maker);
    if (t.path() >= AccessPath::rdma) {
        order_accumulates(rank, false);
        return send_requests(rank, fetches ? wire::RmaKind::get_accumulate : wire::RmaKind::accumulate, &c,
                             here, there, result, maker);
    }
    const ChunkLimits limits{staged_bytes, c.element_bytes, IovChunk::max_segments};
    ScratchBuffers& local = scratch_; // buffer packed_origin; fetched data has a separate buffer
    std::vector<std::byte> packed_result(fetches && result.layout != nullptr ? staged_bytes : 0);
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, limits);
        const std::byte* in = c.writes() ? here.base + chunk.from : nullptr;
        if (c.writes() && here.layout != nullptr) {
            std::byte* const packed = local.get(packed_origin, staged_bytes);
            load(here, chunk.from, packed, chunk.bytes);
            in = packed;
        }
        std::byte* fetched = nullptr;
        if (fetches) fetched = result.layout == nullptr ? result.base + chunk.from : packed_result.data();
        if (const Err e = accumulate_chunk(rank, c, chunk.iov, chunk.count, chunk.bytes, in, fetched);
            e != Err::success)
            return e;
        if (fetches && result.layout != nullptr) store(result, chunk.from, fetched, chunk.bytes);
    }
    return Err::success;
}

Err Window::swap_cma(int rank, const Target& t, const CompareSwapOp& s, const void* compare,
                     const void* value, void* fetched, std::byte* there) {
    auto& cma = team_.engine->cma();
    std::optional<SpinGuard> spin_guard;
    if (!t.exclusive) spin_guard.emplace(members_[rank].accumulate_lock);
    std::byte found[16];
    const iovec remote{there, s.bytes};
    const iovec read{found, s.bytes};
    if (const Err e = cma_error(cma.readv(t.peer, &read, 1, &remote, 1, s.bytes), rank); e != Err::success)
        return e;
    const bool equal = std::memcmp(found, compare, s.bytes) == 0;
    const iovec written{const_cast<void*>(value), s.bytes};
    const Err e =
        equal ? cma_error(cma.writev(t.peer, &written, 1, &remote, 1, s.bytes), rank) : Err::success;
    std::memcpy(fetched, found, s.bytes);
    return e;
}

Err Window::compare_and_swap(int rank, const CompareSwapOp& s, const void* compare, const void* value,
                             void* fetched, std::byte* there, const FetchFactory& maker) {
    const Target& t = target(rank);
    if (can_swap_rdma(rank, s, there)) return swap_rdma(rank, compare, value, fetched, there, maker);
    if (t.path() == AccessPath::cma) return swap_cma(rank, t, s, compare, value, fetched, there);
    if (t.path() >= AccessPath::rdma) {
        order_accumulates(rank, false);
        return send_swap(rank, s, compare, value, fetched, there, maker);
    }
    swap_element(s, there, compare, value, fetched, guard_of(rank, t));
    return Err::success;
}

} // namespace zipmpi::proto::rma
