// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Creation of the collective buffers of a team, and their geometry.
#include "base/param.hpp"
#include "proto/coll/algorithms.hpp"
#include "proto/coll/hierarchy.hpp"
#include "proto/coll/shm/coll_memory.hpp"
#include "proto/coll/shm/shm.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {

template <>
void TeamLocal<coll::TeamCollBuffers>::reset() noexcept {
    delete value_;
    value_ = nullptr;
}

namespace coll::shm {
namespace {

Param<int64_t> small_block{"coll.shm_small_max",
                           2 * KiB,
                           {64, 1 * MiB},
                           Unit::bytes,
                           Level::tuner,
                           Scope::job_wide,
                           "largest block sent through the small shared buffer in one step"};
Param<int64_t> large_buffer_bytes{
    "coll.shm_large_buffer",
    1536 * KiB,
    {64 * KiB, 4 * GiB},
    Unit::bytes,
    Level::tuner,
    Scope::job_wide,
    "size of the shared buffer for large collectives, at least 48 KiB per rank; best within the L2 cache"};
Param<int64_t> flag_max_ranks{"coll.shm_flags_max_ranks",
                              8,
                              {0, 4096},
                              Unit::none,
                              Level::tuner,
                              Scope::job_wide,
                              "most ranks for flag-based instead of counter-based synchronization; counters "
                              "are always used when oversubscribed"};

constexpr uint64_t max_slot_bytes = 256 * KiB;
constexpr uint64_t min_slot_bytes = 16 * KiB;

uint64_t round_up_to_cache_lines(uint64_t bytes) {
    return (bytes + sizeof(wire::SlotHead) + wire::cache_line - 1) / wire::cache_line * wire::cache_line;
}

wire::CollBufferGeometry small_geometry(int ranks) {
    return {static_cast<uint32_t>(ranks), 8,
            round_up_to_cache_lines(static_cast<uint64_t>(small_block.get()))};
}

// Blocks that fit into the cache line of their flag. Many banks, since an operation touches one line only.
wire::CollBufferGeometry tiny_geometry(int ranks) {
    return {static_cast<uint32_t>(ranks), wire::coll_buffer_max_depth, wire::cache_line};
}

// Three banks: one is filled, one is reduced, one is read.
wire::CollBufferGeometry large_geometry(int ranks) {
    const uint64_t share = static_cast<uint64_t>(large_buffer_bytes.get()) / 3 / static_cast<uint64_t>(ranks);
    return {static_cast<uint32_t>(ranks), 3,
            round_up_to_cache_lines(std::clamp(share, min_slot_bytes, max_slot_bytes))};
}

// Index in TeamCollBuffers::buffers.
enum BufferClass : uint32_t { tiny, small, large };

BufferClass class_of(size_t bytes) {
    if (bytes <= tiny_slot_capacity) return tiny;
    return bytes <= static_cast<size_t>(small_block.get()) ? small : large;
}

wire::CollBufferGeometry geometry_of(BufferClass which, int ranks) {
    return which == tiny    ? tiny_geometry(ranks)
           : which == small ? small_geometry(ranks)
                            : large_geometry(ranks);
}

size_t slot_capacity(const wire::CollBufferGeometry& g) { return g.slot_bytes - sizeof(wire::SlotHead); }

struct BufferInfo {
    uint64_t offset; // 0: no buffer
    uint32_t uses_flags;
    uint32_t which;
};

bool all_reachable(const Team& t) {
    for (int r = 0; r < t.size; ++r)
        if (t.engine->shm().peer_of(t.map.world(r)) < 0) return false;
    return true;
}

BufferInfo create_buffer(const Team& t, const wire::CollBufferGeometry& g) {
    const segment::NodeSegment& segment = t.engine->shm().segment();
    if (!all_reachable(t) || t.size > static_cast<int>(wire::coll_buffer_max_members)) return {};
    const uint64_t offset = allocate_coll_memory(segment, g.total_bytes());
    if (offset == 0) return {};
    // clear flags of a previous buffer at this offset
    std::memset(segment.coll_memory(offset), 0, g.control_bytes());
    for (uint32_t bank = 0; bank < g.depth; ++bank)
        for (uint32_t m = 0; m < g.members; ++m)
            std::memset(segment.coll_memory(offset + g.slot_offset(bank, m)), 0, sizeof(wire::SlotHead));
    reinterpret_cast<wire::CollBufferHead*>(segment.coll_memory(offset))->members.value.store(g.members);
    const bool few = t.size <= flag_max_ranks.get() && !t.engine->wait_tuning().oversubscribed();
    return {offset, few ? 1U : 0U, 0};
}

// Rank 0 creates the buffer and broadcasts its offset. If it announces another buffer, the ranks called
// different collectives: then messages are used, so that a hang report shows the call of each rank. Not after
// a fault: messages of this broadcast may still arrive, and would be taken for those of the collective.
std::unique_ptr<CollBuffer> agree_on_buffer(Collective& c, Team& t, const wire::CollBufferGeometry& g,
                                            uint32_t which) {
    BufferInfo a{};
    if (t.rank == 0) {
        a = create_buffer(t, g);
        a.which = which;
    }
    // within the collective that needs the buffer, before its messages, with its sequence number
    Schedule s({t.context, c.sequence()});
    broadcast_binomial::build(s, t, &a, sizeof a, 0);
    ScheduleRun run(*t.engine, s);
    run.start(s.state());
    run.wait();
    if (is_fault(run.error())) c.record_error(run.error());
    if (run.error() != Err::success || a.offset == 0 || a.which != which) return nullptr;
    return std::unique_ptr<CollBuffer>(new (std::nothrow) CollBuffer(
        t, g, a.offset, a.uses_flags != 0 ? SyncMethod::flags : SyncMethod::counters));
}

} // namespace

size_t large_slot_capacity(int ranks) { return slot_capacity(large_geometry(ranks)); }

size_t slot_capacity_for(int ranks, size_t bytes) {
    return slot_capacity(geometry_of(class_of(bytes), ranks));
}

CollBuffer* coll_buffer_for(Collective& c, Team& t, size_t bytes) {
    // Creating and using buffers must follow the order of steps.
    if (!c.run_pending()) return nullptr;
    if (t.coll_buffers.get() == nullptr) t.coll_buffers.set(new TeamCollBuffers);
    TeamCollBuffers& b = *t.coll_buffers.get();
    const BufferClass which = class_of(bytes);
    std::unique_ptr<CollBuffer>& buffer = b.buffers[which];
    if (!b.attempted[which]) {
        b.attempted[which] = true;
        buffer = agree_on_buffer(c, t, geometry_of(which, t.size), which);
    }
    return buffer.get();
}

} // namespace coll::shm
} // namespace zipmpi::proto
