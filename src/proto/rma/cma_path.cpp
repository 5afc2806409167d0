// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/cma_path.hpp"

#include "os/clock.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/rma/accumulate_chunks.hpp"
#include "proto/rma/assist.hpp"

#include <optional>

namespace zipmpi::proto::rma {
namespace {

using CmaResult = transport::cma::Copier::Result;

constexpr uint64_t max_cma_bytes = uint64_t{1} << 30; // per system call

// Time for the notification that a process has ended.
constexpr uint64_t notification_ns = 100'000'000;

// Success, or the failure of a rank whose memory cannot be accessed: in fault-tolerant jobs waits for it.
[[gnu::cold]] Err failure_of_process(const Team& team, int rank) {
    ProgressEngine& engine = *team.engine;
    const bool tolerant = engine.shm().segment().faults().state().fault_tolerant != 0;
    Err failed = Err::success;
    const uint64_t until = os::now_ns() + (tolerant ? notification_ns : 0);
    do {
        engine.faults().poll();
        failed = engine.faults().source_failure(team.context, rank, team.map.world(rank));
        if (failed == Err::success && tolerant) os::yield_cpu();
    } while (failed == Err::success && os::now_ns() < until);
    return failed;
}

Err cma_error(CmaResult result, int rank) {
    if (result == CmaResult::no_such_memory)
        return fail(Err::rma_range,
                    "access only memory that the target has in the window or has attached to it",
                    "rank %d has no memory at the accessed address", rank);
    return fail(Err::other, "set the parameter cma.enable to no",
                "CMA access to the memory of rank %d failed after earlier success", rank);
}

} // namespace

CmaPath::CmaPath(const TargetTable& targets)
    : targets_(targets) {}

CmaPath::~CmaPath() = default;

void CmaPath::start_assist(const AttachedRanges& attached) {
    assist_ = std::make_unique<TargetAssist>(targets_, attached);
}

Err CmaPath::copy(int rank, Direction direction, std::byte* local, uint64_t bytes, const iovec* iov,
                  size_t count) {
    auto& cma = targets_.team().engine->cma();
    const transport::Peer peer = targets_.peek(rank).peer;
    const iovec one{local, bytes};
    const CmaResult result = direction == Direction::write ? cma.writev(peer, &one, 1, iov, count, bytes)
                                                           : cma.readv(peer, &one, 1, iov, count, bytes);
    if (result == CmaResult::copied) [[likely]]
        return Err::success;
    const Err failed = failure_of_process(targets_.team(), rank);
    return failed != Err::success ? failed : cma_error(result, rank);
}

// Returns true if the target has moved the chunk, which may have become shorter.
bool CmaPath::try_assist(int rank, Direction direction, const TypedBuffer& here, const TypedBuffer& there,
                         IovChunk& chunk) {
    if (!assist_->is_worthwhile(rank, chunk.count, chunk.bytes)) return false;
    if (chunk.bytes > TargetAssist::max_bytes)
        chunk.fill(there, {TargetAssist::max_bytes, 1, IovChunk::max_segments});
    return assist_->transfer(rank, direction, here, chunk);
}

Err CmaPath::transfer(int rank, Direction direction, const TypedBuffer& here, const TypedBuffer& there) {
    const bool is_run = assist_ != nullptr && TargetAssist::is_single_run(there);
    if (is_run && assist_->transfer_run(rank, direction, here, there)) return Err::success;
    const bool assists_chunks = assist_ != nullptr && !is_run;
    const bool whole = here.layout == nullptr;
    const bool writes = direction == Direction::write;
    const ChunkLimits limits{whole ? max_cma_bytes : staged_bytes, 1, IovChunk::max_segments};
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, limits);
        if (assists_chunks && try_assist(rank, direction, here, there, chunk)) continue;
        std::byte* const local =
            whole ? here.base + chunk.from : scratch_.get(ScratchBuffers::packed_origin, staged_bytes);
        if (writes && !whole) load(here, chunk.from, local, chunk.bytes);
        if (const Err e = copy(rank, direction, local, chunk.bytes, chunk.iov, chunk.count);
            e != Err::success)
            return e;
        if (!writes && !whole) store(here, chunk.from, local, chunk.bytes);
    }
    return Err::success;
}

Err CmaPath::put(int rank, const TypedBuffer& here, const TypedBuffer& there) {
    return transfer(rank, Direction::write, here, there);
}

Err CmaPath::get(int rank, const TypedBuffer& here, const TypedBuffer& there) {
    return transfer(rank, Direction::read, here, there);
}

Err CmaPath::accumulate(int rank, const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                        const TypedBuffer& there) {
    return accumulate_chunks(c, here, result, there, scratch_,
                             [&](const IovChunk& chunk, const std::byte* in, std::byte* fetched) {
                                 return accumulate_chunk(rank, c, chunk, in, fetched);
                             });
}

Err CmaPath::accumulate_chunk(int rank, const AccumulateOp& c, const IovChunk& chunk, const std::byte* in,
                              std::byte* fetched) {
    std::optional<SpinGuard> spin_guard;
    targets_.guard_of(rank).enter(spin_guard);
    const bool reads = fetched != nullptr || c.kind == AccumulateOp::Kind::combine;
    std::byte* const there = scratch_.get(0, chunk.bytes);
    if (reads)
        if (const Err e = copy(rank, Direction::read, there, chunk.bytes, chunk.iov, chunk.count);
            e != Err::success)
            return e;
    if (fetched != nullptr) std::memcpy(fetched, there, chunk.bytes);
    if (!c.writes()) return Err::success;
    ScratchBuffers elements; // for noncontiguous elements
    accumulate_packed(c, in, there, chunk.bytes, elements);
    return copy(rank, Direction::write, there, chunk.bytes, chunk.iov, chunk.count);
}

Err CmaPath::compare_and_swap(int rank, const CompareSwapOp& s, const void* compare, const void* value,
                              void* fetched, std::byte* there) {
    std::optional<SpinGuard> spin_guard;
    targets_.guard_of(rank).enter(spin_guard);
    std::byte found[16];
    const iovec remote{there, s.bytes};
    if (const Err e = copy(rank, Direction::read, found, s.bytes, &remote, 1); e != Err::success) return e;
    const bool equal = std::memcmp(found, compare, s.bytes) == 0;
    auto* const written = static_cast<std::byte*>(const_cast<void*>(value));
    const Err e = equal ? copy(rank, Direction::write, written, s.bytes, &remote, 1) : Err::success;
    std::memcpy(fetched, found, s.bytes);
    return e;
}

} // namespace zipmpi::proto::rma
