// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// When a team gets its boards, and how large they are.
#include "base/param.hpp"
#include "proto/coll/algorithms.hpp"
#include "proto/coll/levels.hpp"
#include "proto/coll/shm/area.hpp"
#include "proto/coll/shm/shm.hpp"
#include "proto/p2p/lane.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {

template <>
void OfOneTeam<coll::Boards>::reset() noexcept {
    delete made_;
    made_ = nullptr;
}

namespace coll::shm {
namespace {

Param<bool> use_boards{"coll.shared_memory", true, Level::user, Scope::all_equal,
                       "collectives within a node work in shared memory instead of sending messages"};
Param<int64_t> first_by_messages{"coll.first_by_messages",
                                 4,
                                 {0, 1000000000},
                                 Unit::none,
                                 Level::tuner,
                                 Scope::all_equal,
                                 "collectives on a communicator before its ranks get shared memory for them"};
Param<int64_t> small_block{"coll.small_block",
                           2 * KiB,
                           {64, 1 * MiB},
                           Unit::bytes,
                           Level::tuner,
                           Scope::all_equal,
                           "largest block of a rank that goes through shared memory in one piece at once"};
Param<int64_t> large_board{
    "coll.large_board",
    1536 * KiB,
    {64 * KiB, 4 * GiB},
    Unit::bytes,
    Level::tuner,
    Scope::all_equal,
    "shared memory of a communicator for large collectives, if its ranks get 16 KiB each three "
    "times: more than the second cache holds is slower"};
Param<int64_t> marks_up_to{"coll.marks_max_ranks",
                           8,
                           {0, 4096},
                           Unit::none,
                           Level::tuner,
                           Scope::all_equal,
                           "most ranks that look at each other's marks instead of counting themselves in; "
                           "never when ranks outnumber CPUs"};

constexpr uint64_t largest_slot = 256 * KiB;
constexpr uint64_t least_slot = 16 * KiB;

uint64_t whole_lines(uint64_t bytes) {
    return (bytes + sizeof(wire::SlotHead) + wire::line_size - 1) / wire::line_size * wire::line_size;
}

wire::BoardGeometry small_geometry(const Team& t) {
    return {static_cast<uint32_t>(t.size), 8, whole_lines(static_cast<uint64_t>(small_block.get()))};
}

// Blocks that fit into the line of their mark: many parts, because nothing but the line is touched.
wire::BoardGeometry tiny_geometry(const Team& t) {
    return {static_cast<uint32_t>(t.size), wire::board_max_depth, wire::line_size};
}

// Three parts: one is filled, one is worked on, one is read.
wire::BoardGeometry large_geometry(const Team& t) {
    const uint64_t share = static_cast<uint64_t>(large_board.get()) / 3 / static_cast<uint64_t>(t.size);
    return {static_cast<uint32_t>(t.size), 3, whole_lines(std::clamp(share, least_slot, largest_slot))};
}

struct Announcement {
    uint64_t offset; // 0: no board
    uint32_t marks;
    uint32_t which;
};

bool all_reachable(const Team& t) {
    for (int r = 0; r < t.size; ++r)
        if (t.lane->shm().reach(t.map.world(r)) < 0) return false;
    return true;
}

Announcement make_board(const Team& t, const wire::BoardGeometry& g) {
    const boot::NodeSegment& segment = t.lane->shm().segment();
    if (!all_reachable(t) || t.size > static_cast<int>(wire::board_max_members)) return {};
    const uint64_t offset = take_board_memory(segment, g.total_bytes());
    if (offset == 0) return {};
    // marks must not look like those of the board that was here before
    std::memset(segment.board(offset), 0, g.control_bytes());
    for (uint32_t part = 0; part < g.depth; ++part)
        for (uint32_t m = 0; m < g.members; ++m)
            std::memset(segment.board(offset + g.slot_offset(part, m)), 0, sizeof(wire::SlotHead));
    reinterpret_cast<wire::BoardHead*>(segment.board(offset))->members.value.store(g.members);
    const bool few = t.size <= marks_up_to.get() && !t.lane->oversubscribed();
    return {offset, few ? 1U : 0U, 0};
}

// Rank 0 makes it and tells the others. If it speaks of another board the ranks do not do the same
// collective: then by messages, so that a report can tell what each of them does.
std::unique_ptr<Board> agree_on_board(Team& t, uint32_t sequence, const wire::BoardGeometry& g,
                                      uint32_t which) {
    Announcement a{};
    if (t.rank == 0) {
        a = make_board(t, g);
        a.which = which;
    }
    Schedule s(t, Schedule::Part{sequence});
    broadcast_binomial::build(s, t, &a, sizeof a, 0);
    if (s.run() != Err::success || a.offset == 0 || a.which != which) return nullptr;
    return std::unique_ptr<Board>(new (std::nothrow) Board(t, g, a.offset, a.marks != 0));
}

} // namespace

size_t large_room(const Team& t) { return large_geometry(t).slot_bytes - sizeof(wire::SlotHead); }

Board* board_for(Schedule& s, Team& t, size_t bytes) {
    // The first ones on a communicator go by messages: many communicators see no more than those, and
    // messages find out when ranks do not call the same collective.
    if (!s.may_block() || t.size < 2 || !use_boards ||
        t.collectives <= static_cast<uint32_t>(first_by_messages.get()) || spread_of(t) != Spread::one_node)
        return nullptr;
    // What members tell each other about boards, and what they do there, comes in the order of steps.
    if (!s.settle()) return nullptr;
    if (t.boards.get() == nullptr) t.boards.set(new Boards);
    Boards& b = *t.boards.get();
    const uint32_t which = bytes <= wire::line_size - sizeof(wire::SlotHead) ? 0
                           : bytes <= static_cast<size_t>(small_block.get()) ? 1
                                                                             : 2;
    std::unique_ptr<Board>& board = b.board[which];
    if (!b.tried[which]) {
        b.tried[which] = true;
        const wire::BoardGeometry geometry = which == 0   ? tiny_geometry(t)
                                             : which == 1 ? small_geometry(t)
                                                          : large_geometry(t);
        board = agree_on_board(t, s.sequence(), geometry, which);
    }
    return board.get();
}

} // namespace coll::shm
} // namespace zipmpi::proto
