// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allgather and all-to-all of large blocks: every rank reads what it wants where it is. Each byte
// is copied once.
#include "base/param.hpp"
#include "proto/coll/shm/direct.hpp"

#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> most_readers{"coll.direct_ranks",
                            2,
                            {0, INT32_MAX},
                            Unit::none,
                            Level::tuner,
                            Scope::all_equal,
                            "most ranks that gather large blocks by reading from each other's memory; "
                            "with more of them one copy to shared memory is worth while"};

Param<int64_t> exchange_min{
    "coll.direct_alltoall_min",
    16 * KiB,
    {1, INT64_MAX},
    Unit::bytes,
    Level::tuner,
    Scope::all_equal,
    "shortest block that MPI_Alltoall reads straight out of another rank's memory; a "
    "quarter of it if all blocks of a rank together would go through shared memory in "
    "more than four pieces"};
constexpr size_t few_pieces = 4;

size_t least_exchanged(const Team& t, size_t block) {
    const auto least = static_cast<size_t>(exchange_min.get());
    const bool many_pieces = block * static_cast<size_t>(t.size) > few_pieces * large_room(t);
    return many_pieces ? least / 4 : least;
}

struct Allgather {
    Board* board;
    Lane* lane;
    const std::byte* mine;
    std::byte* all;
    size_t block;
    Call call;

    [[nodiscard]] Err run() const {
        Direct direct(*board, *lane, call);
        direct.tell(mine);
        std::byte* own = all + static_cast<size_t>(board->self()) * block;
        if (own != mine) std::memcpy(own, mine, block);
        for (int i = 1; i < board->members(); ++i) {
            const int r = (board->self() + i) % board->members();
            direct.read(r, 0, all + static_cast<size_t>(r) * block, block);
        }
        direct.end();
        return direct.failed() ? kernel_refused() : Err::success;
    }
};

struct Alltoall {
    Board* board;
    Lane* lane;
    const std::byte* send;
    std::byte* recv;
    size_t block;
    Call call;

    [[nodiscard]] Err run() const {
        Direct direct(*board, *lane, call);
        direct.tell(send);
        const size_t own = static_cast<size_t>(board->self()) * block;
        std::memcpy(recv + own, send + own, block);
        for (int i = 1; i < board->members(); ++i) {
            const int r = (board->self() + i) % board->members();
            direct.read(r, own, recv + static_cast<size_t>(r) * block, block);
        }
        direct.end();
        return direct.failed() ? kernel_refused() : Err::success;
    }
};

} // namespace

bool direct_allgather(Schedule& s, Team& t, const void* mine, void* all, size_t block) {
    if (t.size > most_readers.get()) return false;
    Board* board = board_for_direct(s, t, block, least_direct());
    return board != nullptr && run_now(s, Allgather{board,
                                                    t.lane,
                                                    static_cast<const std::byte*>(mine),
                                                    static_cast<std::byte*>(all),
                                                    block,
                                                    {s.sequence(), Function::allgather, block}});
}

bool direct_alltoall(Schedule& s, Team& t, const void* send, void* recv, size_t block) {
    Board* board = board_for_direct(s, t, block, least_exchanged(t, block));
    return board != nullptr && run_now(s, Alltoall{board,
                                                   t.lane,
                                                   static_cast<const std::byte*>(send),
                                                   static_cast<std::byte*>(recv),
                                                   block,
                                                   {s.sequence(), Function::alltoall, block}});
}

} // namespace zipmpi::proto::coll::shm
