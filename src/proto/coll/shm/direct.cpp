// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/direct.hpp"

#include "base/param.hpp"

#include <atomic>
#include <cerrno>
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

// Every member says yes or no; all know afterwards whether all have said yes.
bool all_agree(Board& board, const Call& call, bool yes) {
    const uint32_t op = board.begin(false, call);
    *board.slot(op, board.self()) = std::byte{yes};
    board.gate(op);
    for (int r = 0; r < board.members(); ++r) yes = yes && *board.slot(op, r) == std::byte{1};
    return yes;
}

// Every rank reads a number from every other one, and of two each writes one to the other.
void try_directly(Board& board, Lane& lane, const Call& call, Boards& found) {
    const auto own = static_cast<uint64_t>(board.self()) + 1;
    uint64_t written = 0;
    Direct direct(board, lane, call);
    direct.tell(&own, &written);
    bool good = true;
    for (int r = 0; r < board.members(); ++r) {
        uint64_t theirs = 0;
        if (r == board.self()) continue;
        direct.read(r, 0, reinterpret_cast<std::byte*>(&theirs), sizeof theirs);
        good = good && theirs == static_cast<uint64_t>(r) + 1;
    }
    const bool pair = board.members() == 2;
    if (pair && good) direct.write(1 - board.self(), 0, reinterpret_cast<const std::byte*>(&own), sizeof own);
    good = all_agree(board, call, good);
    found.direct = good ? Boards::works : Boards::refused;
    const uint64_t theirs = std::atomic_ref(written).load(std::memory_order_acquire);
    found.writes = pair && good && all_agree(board, call, theirs == static_cast<uint64_t>(2 - board.self()));
}

} // namespace

void Direct::put(const void* address, const void* written) {
    const Addresses told{reinterpret_cast<uint64_t>(address), reinterpret_cast<uint64_t>(written)};
    std::memcpy(board_.slot(op_, board_.self()), &told, sizeof told);
}

Direct::Addresses Direct::addresses(int member) const {
    Addresses told{};
    std::memcpy(&told, board_.slot(op_, member), sizeof told);
    return told;
}

void Direct::tell(const void* address, void* written) {
    op_ = board_.begin(false, call_);
    put(address, written);
    board_.gate(op_);
}

void Direct::tell_to(int member, const void* address) {
    op_ = board_.begin(true, call_);
    put(address, nullptr);
    board_.come(op_, board_.self() == member);
}

void Direct::end_by(int member) {
    // Others that know of a fault do not wait for us: what we have read from them may be something else.
    if (board_.self() == member) board_.look_whether_broken();
    const uint32_t op = board_.begin(true, call_);
    board_.self() == member ? board_.post(op) : board_.await_post(op, member);
}

void Direct::read(int member, size_t offset, std::byte* to, size_t bytes) {
    if (board_.broken()) return;
    const uint64_t from = addresses(member).read + offset;
    if (bytes != 0 && !lane_.read_peer(board_.peer(member), from, to, bytes)) note_failure();
}

void Direct::note_failure() {
    if (errno == ESRCH) board_.lose_member();
    failed_ = true;
}

void Direct::write(int member, size_t offset, const std::byte* from, size_t bytes) {
    if (board_.broken()) return; // the address may be an old one
    const uint64_t to = addresses(member).written + offset;
    if (bytes != 0 && !lane_.write_peer(board_.peer(member), to, from, bytes)) note_failure();
}

size_t least_direct() { return static_cast<size_t>(direct_min.get()); }

Board* board_for_direct(Schedule& s, Team& t, size_t bytes, size_t least) {
    if (bytes < least) return nullptr;
    Board* board = board_for(s, t, 2 * sizeof(uint64_t));
    if (board == nullptr) return nullptr;
    Boards& b = *t.boards.get();
    if (b.direct == Boards::unknown) try_directly(*board, *t.lane, {s.sequence(), Function::agreement, 0}, b);
    return b.direct == Boards::works ? board : nullptr;
}

Err kernel_refused() {
    return fail(Err::other, "set ZIPMPI_KCOPY_USE=no",
                "the kernel does not let this rank reach the memory of another any more");
}

} // namespace zipmpi::proto::coll::shm
