// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/direct.hpp"

#include "base/param.hpp"

#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> direct_min{"coll.direct_min",
                          32 * KiB,
                          {1, INT64_MAX},
                          Unit::bytes,
                          Level::tuner,
                          Scope::all_equal,
                          "shortest block that collectives read straight out of another rank's memory"};

// Every rank reads a number from every other one; all know afterwards whether all could.
bool all_can_read(Board& board, Lane& lane, const Call& call) {
    const auto own = static_cast<uint64_t>(board.self()) + 1;
    Direct direct(board, lane, call);
    direct.tell(&own);
    bool good = true;
    for (int r = 0; r < board.members(); ++r) {
        uint64_t theirs = 0;
        if (r == board.self()) continue;
        direct.read(r, 0, reinterpret_cast<std::byte*>(&theirs), sizeof theirs);
        good = good && theirs == static_cast<uint64_t>(r) + 1;
    }
    const uint32_t op = board.begin(false, call);
    *board.slot(op, board.self()) = std::byte{good};
    board.gate(op);
    for (int r = 0; r < board.members(); ++r) good = good && *board.slot(op, r) == std::byte{1};
    return good;
}

} // namespace

void Direct::write(const void* address) {
    const auto value = reinterpret_cast<uint64_t>(address);
    std::memcpy(board_.slot(op_, board_.self()), &value, sizeof value);
}

void Direct::tell(const void* address) {
    op_ = board_.begin(false, call_);
    write(address);
    board_.gate(op_);
}

void Direct::tell_to(int member, const void* address) {
    op_ = board_.begin(true, call_);
    write(address);
    board_.come(op_, board_.self() == member);
}

void Direct::end_by(int member) {
    const uint32_t op = board_.begin(true, call_);
    board_.self() == member ? board_.post(op) : board_.await_post(op, member);
}

void Direct::read(int member, size_t offset, std::byte* to, size_t bytes) {
    uint64_t address = 0;
    std::memcpy(&address, board_.slot(op_, member), sizeof address);
    if (bytes != 0 && !lane_.read_peer(board_.peer(member), address + offset, to, bytes)) failed_ = true;
}

size_t least_direct() { return static_cast<size_t>(direct_min.get()); }

Board* board_for_direct(Schedule& s, Team& t, size_t bytes, size_t least) {
    if (bytes < least) return nullptr;
    Board* board = board_for(s, t, sizeof(uint64_t));
    if (board == nullptr) return nullptr;
    Boards& b = *t.boards.get();
    if (b.direct == Boards::unknown)
        b.direct = all_can_read(*board, *t.lane, {s.sequence(), Function::agreement, 0}) ? Boards::works
                                                                                         : Boards::refused;
    return b.direct == Boards::works ? board : nullptr;
}

Err kernel_refused() {
    return fail(Err::other, "set ZIPMPI_KCOPY_USE=no",
                "the kernel does not let this rank read from another any more");
}

} // namespace zipmpi::proto::coll::shm
