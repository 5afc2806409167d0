// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Broadcast, allgather and all-to-all of large blocks: every rank reads what it wants where it is. Each byte
// is copied once.
#include "base/param.hpp"
#include "proto/coll/shm/direct.hpp"

#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> most_readers{
    "coll.direct_ranks",
    4,
    {0, INT32_MAX},
    Unit::none,
    Level::tuner,
    Scope::all_equal,
    "most ranks that broadcast or gather large blocks by reading from each other's memory; "
    "with more of them one copy to shared memory is worth while"};

struct Broadcast {
    Board* board;
    Lane* lane;
    std::byte* data;
    size_t bytes;
    int root;
    uint32_t number;

    [[nodiscard]] Err run() const {
        Direct direct(*board, *lane, number);
        direct.tell(data);
        if (board->self() != root) direct.read(root, 0, data, bytes);
        direct.end();
        return direct.failed() ? kernel_refused() : Err::success;
    }
};

struct Allgather {
    Board* board;
    Lane* lane;
    std::byte* all;
    size_t block;
    uint32_t number;

    [[nodiscard]] Err run() const {
        Direct direct(*board, *lane, number);
        direct.tell(all);
        for (int i = 1; i < board->members(); ++i) {
            const int r = (board->self() + i) % board->members();
            const size_t offset = static_cast<size_t>(r) * block;
            direct.read(r, offset, all + offset, block);
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
    uint32_t number;

    [[nodiscard]] Err run() const {
        Direct direct(*board, *lane, number);
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

bool direct_broadcast(Schedule& s, Team& t, void* data, size_t bytes, int root) {
    Board* board = board_for_direct(s, t, bytes, most_readers.get());
    return board != nullptr &&
           add_step(s, Broadcast{board, t.lane, static_cast<std::byte*>(data), bytes, root, s.sequence()});
}

bool direct_allgather(Schedule& s, Team& t, void* all, size_t block) {
    Board* board = board_for_direct(s, t, block, most_readers.get());
    return board != nullptr &&
           add_step(s, Allgather{board, t.lane, static_cast<std::byte*>(all), block, s.sequence()});
}

bool direct_alltoall(Schedule& s, Team& t, const void* send, void* recv, size_t block) {
    Board* board = board_for_direct(s, t, block, INT64_MAX);
    return board != nullptr && add_step(s, Alltoall{board, t.lane, static_cast<const std::byte*>(send),
                                                    static_cast<std::byte*>(recv), block, s.sequence()});
}

} // namespace zipmpi::proto::coll::shm
