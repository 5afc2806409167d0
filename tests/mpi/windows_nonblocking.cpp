// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Nonblocking synchronization of windows and fences of neighbors: contents, independence of the calls from
// other ranks, and errors. usage: windows_nonblocking
#include "check.hpp"

#include <cstdint>
#include <initializer_list>

namespace {

constexpr int rounds = 50;
constexpr int long_count = 20000; // int64_t elements that need several batches between hosts

// A window of 64-bit integers on every rank, in memory of the library or in private memory.
struct Window {
    MPI_Win win = MPI_WIN_NULL;
    int64_t* base = nullptr;
    std::vector<int64_t> own;

    Window(bool is_private, int count) {
        const MPI_Aint bytes = count * MPI_Aint{8};
        own.resize(is_private ? static_cast<size_t>(count) : 0);
        if (is_private) {
            base = own.data();
            CHECK(MPI_Win_create(base, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win) == MPI_SUCCESS);
        } else {
            CHECK(MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) == MPI_SUCCESS);
        }
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        for (int i = 0; i < count; ++i) base[i] = -1;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~Window() { CHECK(MPI_Win_free(&win) == MPI_SUCCESS); }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    void put(int target, int at, int64_t value) const {
        CHECK(MPI_Put(&value, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, win) == MPI_SUCCESS);
    }
};

MPI_Group group_of(std::initializer_list<int> ranks) {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group made = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    CHECK(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.begin(), &made) == MPI_SUCCESS);
    MPI_Group_free(&all);
    return made;
}

void wait(MPI_Request& request) {
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
}

void fences(bool is_private) {
    const Window w(is_private, 2 * size_);
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(MPIX_Win_ifence(MPI_MODE_NOPRECEDE, w.win, &request) == MPI_SUCCESS);
    wait(request);
    for (int round = 0; round < rounds; ++round) {
        const int half = round % 2 * size_; // a rank that is ahead writes to the other half
        for (int r = 0; r < size_; ++r) w.put(r, half + rank_, 1000 * round + rank_);
        CHECK(MPIX_Win_ifence(0, w.win, &request) == MPI_SUCCESS);
        int flag = 0;
        if (round % 3 == 0)
            while (flag == 0) CHECK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        wait(request);
        for (int r = 0; r < size_; ++r) CHECK(w.base[half + r] == 1000 * round + r);
        // a value that a third rank has put in the epoch before
        int64_t got = 0;
        const int third = (rank_ + 2) % size_;
        MPI_Get(&got, 1, MPI_INT64_T, (rank_ + 1) % size_, half + third, 1, MPI_INT64_T, w.win);
        CHECK(MPIX_Win_ifence(0, w.win, &request) == MPI_SUCCESS);
        wait(request);
        CHECK(got == 1000 * round + third);
    }
    CHECK(MPI_Win_fence(0, w.win) == MPI_SUCCESS);
    CHECK(MPIX_Win_ifence(MPI_MODE_NOSUCCEED, w.win, &request) == MPI_SUCCESS);
    wait(request);
    int64_t x = 0;
    FAILS(MPI_Put(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, w.win), MPI_ERR_RMA_SYNC);
}

// Rank 0 enters the fence after the calls of all other ranks have returned; until then the epoch of these is
// not over, and they can neither access the window nor begin another epoch.
void late_member(bool is_private) {
    Window w(is_private, 4);
    CHECK(MPI_Win_fence(0, w.win) == MPI_SUCCESS);
    MPI_Request request = MPI_REQUEST_NULL;
    w.put((rank_ + 1) % size_, 0, rank_);
    if (rank_ == 0)
        for (int r = 1; r < size_; ++r)
            MPI_Recv(nullptr, 0, MPI_BYTE, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(MPIX_Win_ifence(0, w.win, &request) == MPI_SUCCESS);
    if (rank_ != 0) {
        int flag = 1;
        CHECK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 0);
        int64_t x = 0;
        MPI_Win copy = w.win;
        MPI_Group self = group_of({rank_});
        MPI_Request second = MPI_REQUEST_NULL;
        FAILS(MPI_Put(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, w.win), MPI_ERR_RMA_SYNC);
        FAILS(MPI_Win_fence(0, w.win), MPI_ERR_RMA_SYNC);
        FAILS(MPIX_Win_ifence(0, w.win, &second), MPI_ERR_RMA_SYNC);
        FAILS(MPIX_Win_fence_neighbors(self, 0, w.win), MPI_ERR_RMA_SYNC);
        FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win), MPI_ERR_RMA_SYNC);
        FAILS(MPI_Win_lock_all(0, w.win), MPI_ERR_RMA_SYNC);
        FAILS(MPI_Win_post(self, 0, w.win), MPI_ERR_RMA_SYNC);
        FAILS(MPI_Win_start(self, 0, w.win), MPI_ERR_RMA_SYNC);
        FAILS(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
        MPI_Group_free(&self);
        MPI_Send(nullptr, 0, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
    }
    wait(request);
    CHECK(w.base[0] == (rank_ + size_ - 1) % size_);
    CHECK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win) == MPI_SUCCESS);
}

// A message tells the target that the values have arrived, and that it may overwrite them.
void flushes(bool is_private) {
    const Window w(is_private, long_count);
    const int target = (rank_ + 1) % size_;
    const int origin = (rank_ + size_ - 1) % size_;
    std::vector<int64_t> values(long_count);
    CHECK(MPI_Win_lock_all(0, w.win) == MPI_SUCCESS);
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < long_count; ++i) values[static_cast<size_t>(i)] = round + i;
        MPI_Request requests[2];
        CHECK(MPI_Put(values.data(), long_count - 1, MPI_INT64_T, target, 0, long_count - 1, MPI_INT64_T,
                      w.win) == MPI_SUCCESS);
        const bool all = round % 2 == 1;
        CHECK((all ? MPIX_Win_iflush_all(w.win, &requests[0])
                   : MPIX_Win_iflush(target, w.win, &requests[0])) == MPI_SUCCESS);
        const int64_t late = 77 + round; // called later: the request does not wait for it to be flushed
        CHECK(MPI_Put(&late, 1, MPI_INT64_T, target, long_count - 1, 1, MPI_INT64_T, w.win) == MPI_SUCCESS);
        wait(requests[0]);
        MPI_Sendrecv(nullptr, 0, MPI_BYTE, target, 1, nullptr, 0, MPI_BYTE, origin, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Win_sync(w.win);
        for (int i = 0; i + 1 < long_count; ++i) CHECK(w.base[i] == round + i);
        CHECK(MPIX_Win_iflush(target, w.win, &requests[0]) == MPI_SUCCESS);
        CHECK(MPIX_Win_iflush_all(w.win, &requests[1]) == MPI_SUCCESS);
        CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(w.win);
        CHECK(w.base[long_count - 1] == 77 + round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(MPIX_Win_iflush(MPI_PROC_NULL, w.win, &request) == MPI_SUCCESS);
    wait(request);
    CHECK(MPIX_Win_iunlock_all(w.win, &request) == MPI_SUCCESS);
    wait(request);
    FAILS(MPI_Win_unlock_all(w.win), MPI_ERR_RMA_SYNC);
}

void unlocks(bool is_private) {
    const Window w(is_private, 2);
    MPI_Request request = MPI_REQUEST_NULL;
    for (const int type : {MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED}) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_, 0, w.win);
        w.base[0] = w.base[1] = 0;
        MPI_Win_unlock(rank_, w.win);
        MPI_Barrier(MPI_COMM_WORLD);
        const int64_t one = 1;
        for (int round = 0; round < rounds; ++round)
            for (int r = 0; r < size_; ++r) {
                CHECK(MPI_Win_lock(type, r, 0, w.win) == MPI_SUCCESS);
                MPI_Accumulate(&one, 1, MPI_INT64_T, r, 0, 1, MPI_INT64_T, MPI_SUM, w.win);
                int64_t seen = 0; // of the word that only exclusive holders change
                if (type == MPI_LOCK_EXCLUSIVE) {
                    MPI_Get(&seen, 1, MPI_INT64_T, r, 1, 1, MPI_INT64_T, w.win);
                    MPI_Win_flush(r, w.win);
                    w.put(r, 1, seen + 1);
                }
                CHECK(MPIX_Win_iunlock(r, w.win, &request) == MPI_SUCCESS);
                FAILS(MPI_Win_unlock(r, w.win), MPI_ERR_RMA_SYNC);
                wait(request);
            }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, rank_, 0, w.win);
        CHECK(w.base[0] == size_ * rounds && (type == MPI_LOCK_SHARED || w.base[1] == size_ * rounds));
        MPI_Win_unlock(rank_, w.win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, w.win) == MPI_SUCCESS);
    CHECK(MPIX_Win_iunlock(0, w.win, &request) == MPI_SUCCESS);
    wait(request);
    CHECK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win) == MPI_SUCCESS);
    CHECK(MPIX_Win_iunlock_all(w.win, &request) == MPI_SUCCESS);
    CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    while (MPI_Win_lock_all(0, w.win) != MPI_SUCCESS) {
    } // until the freed request is complete
    CHECK(MPI_Win_unlock_all(w.win) == MPI_SUCCESS);
}

// Values travel around a ring. Buffers alternate: a neighbor may be one fence ahead.
void neighbors(bool is_private) {
    const Window w(is_private, 4);
    const int left = (rank_ + size_ - 1) % size_;
    const int right = (rank_ + 1) % size_;
    MPI_Group both = left == right ? group_of({left}) : group_of({left, right});
    CHECK(MPIX_Win_fence_neighbors(both, MPI_MODE_NOPRECEDE, w.win) == MPI_SUCCESS);
    MPI_Request request = MPI_REQUEST_NULL;
    for (int round = 0; round < rounds; ++round) {
        const int half = round % 2 * 2;
        w.put(right, half, 1000 * round + rank_);
        w.put(left, half + 1, 1000 * round + rank_);
        if (round % 2 == 0) {
            CHECK(MPIX_Win_ifence_neighbors(both, 0, w.win, &request) == MPI_SUCCESS);
            wait(request);
        } else {
            CHECK(MPIX_Win_fence_neighbors(both, 0, w.win) == MPI_SUCCESS);
        }
        CHECK(w.base[half] == 1000 * round + left && w.base[half + 1] == 1000 * round + right);
    }
    // A pair alone: the other members take no part, and fences of all members still match.
    if (size_ >= 2 && rank_ < 2) {
        MPI_Group other = group_of({1 - rank_});
        w.put(1 - rank_, 0, 5000 + rank_);
        CHECK(MPIX_Win_fence_neighbors(other, 0, w.win) == MPI_SUCCESS);
        CHECK(w.base[0] == 5001 - rank_);
        MPI_Group_free(&other);
    }
    CHECK(MPI_Win_fence(0, w.win) == MPI_SUCCESS);
    CHECK(MPIX_Win_ifence(MPI_MODE_NOSUCCEED, w.win, &request) == MPI_SUCCESS);
    wait(request);
    MPI_Group_free(&both);
}

void errors() {
    const Window w(false, 1);
    MPI_Request request = MPI_REQUEST_NULL;
    FAILS(MPIX_Win_iflush(0, w.win, &request), MPI_ERR_RMA_SYNC);
    FAILS(MPIX_Win_iflush_all(w.win, &request), MPI_ERR_RMA_SYNC);
    FAILS(MPIX_Win_iunlock(0, w.win, &request), MPI_ERR_RMA_SYNC);
    FAILS(MPIX_Win_iunlock_all(w.win, &request), MPI_ERR_RMA_SYNC);
    FAILS(MPIX_Win_ifence(MPI_MODE_NOCHECK, w.win, &request), MPI_ERR_ASSERT);
    FAILS(MPIX_Win_iflush(size_, w.win, &request), MPI_ERR_RANK);
    CHECK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win) == MPI_SUCCESS);
    FAILS(MPIX_Win_ifence(0, w.win, &request), MPI_ERR_RMA_SYNC);
    CHECK(MPIX_Win_iunlock(0, w.win, &request) == MPI_SUCCESS);
    wait(request);
    MPI_Win alone = MPI_WIN_NULL;
    int64_t* base = nullptr;
    CHECK(MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_SELF, &base, &alone) == MPI_SUCCESS);
    MPI_Win_set_errhandler(alone, MPI_ERRORS_RETURN);
    MPI_Group other = group_of({(rank_ + 1) % size_});
    if (size_ > 1) FAILS(MPIX_Win_fence_neighbors(other, 0, alone), MPI_ERR_GROUP);
    MPI_Group_free(&other);
    CHECK(MPI_Win_free(&alone) == MPI_SUCCESS);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    for (const bool is_private : {false, true}) {
        fences(is_private);
        late_member(is_private);
        flushes(is_private);
        unlocks(is_private);
        neighbors(is_private);
    }
    errors();
    session.end("windows_nonblocking");
    return 0;
}
