// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Windows of all flavors and all synchronization modes, with their contents checked. usage: windows
#include "check.hpp"

#include <cstdint>
#include <cstring>
#include <string>

namespace {

enum class Flavor { create, allocate, dynamic, shared };
constexpr Flavor flavors[] = {Flavor::create, Flavor::allocate, Flavor::dynamic, Flavor::shared};

// A window of 64-bit integers on every rank, and their addresses.
struct Window {
    MPI_Win win = MPI_WIN_NULL;
    int64_t* base = nullptr;
    std::vector<int64_t> own;
    std::vector<MPI_Aint> addresses; // dynamic windows: addresses of the ranks' memory
    Flavor flavor;

    Window(Flavor f, int count, MPI_Comm comm = MPI_COMM_WORLD, MPI_Info info = MPI_INFO_NULL)
        : flavor(f) {
        const MPI_Aint bytes = count * MPI_Aint{8};
        if (f == Flavor::create || f == Flavor::dynamic) {
            own.resize(static_cast<size_t>(count));
            base = own.data();
        }
        if (f == Flavor::create) CHECK(MPI_Win_create(base, bytes, 8, info, comm, &win) == MPI_SUCCESS);
        if (f == Flavor::allocate) CHECK(MPI_Win_allocate(bytes, 8, info, comm, &base, &win) == MPI_SUCCESS);
        if (f == Flavor::shared)
            CHECK(MPI_Win_allocate_shared(bytes, 8, info, comm, &base, &win) == MPI_SUCCESS);
        if (f == Flavor::dynamic) {
            CHECK(MPI_Win_create_dynamic(info, comm, &win) == MPI_SUCCESS);
            CHECK(MPI_Win_attach(win, base, bytes) == MPI_SUCCESS);
            int n = 0;
            MPI_Comm_size(comm, &n);
            addresses.resize(static_cast<size_t>(n));
            MPI_Aint mine = 0;
            MPI_Get_address(base, &mine);
            MPI_Allgather(&mine, 1, MPI_AINT, addresses.data(), 1, MPI_AINT, comm);
        }
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    }
    ~Window() {
        if (flavor == Flavor::dynamic) CHECK(MPI_Win_detach(win, base) == MPI_SUCCESS);
        CHECK(MPI_Win_free(&win) == MPI_SUCCESS);
        CHECK(win == MPI_WIN_NULL);
    }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    [[nodiscard]] MPI_Aint at(int rank, int element) const {
        return flavor == Flavor::dynamic ? addresses[static_cast<size_t>(rank)] + element * MPI_Aint{8}
                                         : element;
    }
};

void set_all(Window& w, int count, int64_t value) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_, 0, w.win);
    for (int i = 0; i < count; ++i) w.base[i] = value;
    MPI_Win_unlock(rank_, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
}

void fences(Flavor flavor) {
    Window w(flavor, 2 * size_);
    set_all(w, 2 * size_, -1);
    CHECK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win) == MPI_SUCCESS);
    for (int r = 0; r < size_; ++r) {
        const int64_t value = 1000 * rank_ + r;
        CHECK(MPI_Put(&value, 1, MPI_INT64_T, r, w.at(r, rank_), 1, MPI_INT64_T, w.win) == MPI_SUCCESS);
    }
    CHECK(MPI_Win_fence(0, w.win) == MPI_SUCCESS);
    for (int r = 0; r < size_; ++r) CHECK(w.base[r] == 1000 * r + rank_ && w.base[size_ + r] == -1);
    std::vector<int64_t> got(static_cast<size_t>(size_));
    for (int r = 0; r < size_; ++r)
        MPI_Get(&got[static_cast<size_t>(r)], 1, MPI_INT64_T, r, w.at(r, rank_), 1, MPI_INT64_T, w.win);
    CHECK(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE, w.win) == MPI_SUCCESS);
    for (int r = 0; r < size_; ++r) CHECK(got[static_cast<size_t>(r)] == 1000 * rank_ + r);
}

// All ranks add to all others, under shared locks, and draw numbers from a counter.
void atomics(Flavor flavor) {
    constexpr int rounds = 200;
    Window w(flavor, 4);
    set_all(w, 4, 0);
    CHECK(MPI_Win_lock_all(0, w.win) == MPI_SUCCESS);
    const int64_t one = 1;
    std::vector<int64_t> numbers;
    for (int i = 0; i < rounds; ++i) {
        for (int r = 0; r < size_; ++r)
            MPI_Accumulate(&one, 1, MPI_INT64_T, r, w.at(r, 0), 1, MPI_INT64_T, MPI_SUM, w.win);
        int64_t number = -1;
        CHECK(MPI_Fetch_and_op(&one, &number, MPI_INT64_T, 0, w.at(0, 1), MPI_SUM, w.win) == MPI_SUCCESS);
        MPI_Win_flush(0, w.win);
        numbers.push_back(number);
        int64_t expected = number; // may be stale; then the swap fails
        const int64_t wanted = number + 1;
        int64_t found = -1;
        MPI_Compare_and_swap(&wanted, &expected, &found, MPI_INT64_T, 0, w.at(0, 2), w.win);
        MPI_Win_flush(0, w.win);
        CHECK(found >= 0 && found <= int64_t{rounds} * size_);
    }
    CHECK(MPI_Win_unlock_all(w.win) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank_, 0, w.win);
    CHECK(w.base[0] == int64_t{rounds} * size_);
    if (rank_ == 0) CHECK(w.base[1] == int64_t{rounds} * size_);
    MPI_Win_unlock(rank_, w.win);
    for (size_t i = 1; i < numbers.size(); ++i) CHECK(numbers[i] > numbers[i - 1]);
    std::vector<int64_t> all(numbers.size() * static_cast<size_t>(size_));
    MPI_Allgather(numbers.data(), rounds, MPI_INT64_T, all.data(), rounds, MPI_INT64_T, MPI_COMM_WORLD);
    std::vector<bool> seen(all.size());
    for (const int64_t n : all) {
        CHECK(!seen[static_cast<size_t>(n)]);
        seen[static_cast<size_t>(n)] = true;
    }
}

// A counter that is only correct if locks exclude each other.
void exclusion(Flavor flavor) {
    constexpr int rounds = 100;
    Window w(flavor, 2);
    set_all(w, 2, 0);
    for (int i = 0; i < rounds; ++i) {
        const int target = i % size_;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win);
        int64_t value = 0;
        MPI_Get(&value, 1, MPI_INT64_T, target, w.at(target, 0), 1, MPI_INT64_T, w.win);
        MPI_Win_flush(target, w.win);
        ++value;
        MPI_Put(&value, 1, MPI_INT64_T, target, w.at(target, 0), 1, MPI_INT64_T, w.win);
        MPI_Put(&value, 1, MPI_INT64_T, target, w.at(target, 1), 1, MPI_INT64_T, w.win);
        MPI_Win_unlock(target, w.win);
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win);
        int64_t both[2] = {-1, -2};
        MPI_Get(both, 2, MPI_INT64_T, target, w.at(target, 0), 2, MPI_INT64_T, w.win);
        MPI_Win_unlock(target, w.win);
        CHECK(both[0] == both[1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t mine = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, rank_, 0, w.win);
    MPI_Get(&mine, 1, MPI_INT64_T, rank_, w.at(rank_, 0), 1, MPI_INT64_T, w.win);
    MPI_Win_unlock(rank_, w.win);
    CHECK(mine == int64_t{size_} * ((rounds - rank_ + size_ - 1) / size_));
}

// Neighbors in a ring open their windows to each other.
void post_start(Flavor flavor) {
    Window w(flavor, 2);
    set_all(w, 2, 0);
    const int left = (rank_ + size_ - 1) % size_;
    const int right = (rank_ + 1) % size_;
    MPI_Group all = MPI_GROUP_NULL, from = MPI_GROUP_NULL, to = MPI_GROUP_NULL;
    MPI_Win_get_group(w.win, &all);
    MPI_Group_incl(all, 1, &left, &from);
    MPI_Group_incl(all, 1, &right, &to);
    for (int64_t i = 1; i <= 50; ++i) {
        CHECK(MPI_Win_post(from, 0, w.win) == MPI_SUCCESS);
        CHECK(MPI_Win_start(to, 0, w.win) == MPI_SUCCESS);
        const int64_t value = 100 * i + rank_;
        CHECK(MPI_Put(&value, 1, MPI_INT64_T, right, w.at(right, 0), 1, MPI_INT64_T, w.win) == MPI_SUCCESS);
        CHECK(MPI_Win_complete(w.win) == MPI_SUCCESS);
        if (i % 2 == 0) {
            CHECK(MPI_Win_wait(w.win) == MPI_SUCCESS);
        } else {
            int done = 0;
            while (done == 0) CHECK(MPI_Win_test(w.win, &done) == MPI_SUCCESS);
        }
        CHECK(w.base[0] == 100 * i + left);
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    MPI_Group_free(&all);
}

// Every other element of a column goes to a block, and back.
void layouts(Flavor flavor) {
    constexpr int n = 600;
    Window w(flavor, n);
    set_all(w, n, 7);
    const int peer = (rank_ + 1) % size_;
    std::vector<int64_t> mine(n), back(n, -1);
    for (int i = 0; i < n; ++i) mine[static_cast<size_t>(i)] = 10000 * rank_ + i;
    MPI_Datatype column = MPI_DATATYPE_NULL;
    MPI_Type_vector(n / 2, 1, 2, MPI_INT64_T, &column);
    MPI_Type_commit(&column);
    MPI_Win_fence(0, w.win);
    CHECK(MPI_Put(mine.data(), n / 2, MPI_INT64_T, peer, w.at(peer, 0), 1, column, w.win) == MPI_SUCCESS);
    MPI_Win_fence(0, w.win);
    const int left = (rank_ + size_ - 1) % size_;
    for (int i = 0; i < n; ++i) CHECK(w.base[i] == (i % 2 == 0 ? 10000 * left + i / 2 : 7));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, w.win);
    CHECK(MPI_Rget(back.data(), 1, column, peer, w.at(peer, 0), 1, column, w.win, &request) == MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i)
        CHECK(back[static_cast<size_t>(i)] == (i % 2 == 0 ? 10000 * rank_ + i / 2 : -1));
    CHECK(MPI_Raccumulate(mine.data(), 1, column, peer, w.at(peer, 0), 1, column, MPI_SUM, w.win, &request) ==
          MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(peer, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank_, 0, w.win);
    for (int i = 0; i < n; ++i) CHECK(w.base[i] == (i % 2 == 0 ? 20000 * left + i / 2 + i : 7));
    MPI_Win_unlock(rank_, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&column);
}

// Pairs with padding between their members, replaced, fetched and compared.
void pairs(Flavor flavor) {
    struct Pair {
        short value;
        int place;
    };
    constexpr int n = 10;
    Window w(flavor, n);
    set_all(w, n, 0);
    const int peer = (rank_ + 1) % size_;
    const int left = (rank_ + size_ - 1) % size_;
    Pair mine[n], found[n];
    for (int i = 0; i < n; ++i) mine[i] = {static_cast<short>(100 * rank_ + i), i};
    MPI_Win_fence(0, w.win);
    MPI_Accumulate(mine, n, MPI_SHORT_INT, peer, w.at(peer, 0), n, MPI_SHORT_INT, MPI_REPLACE, w.win);
    CHECK(MPI_Win_fence(0, w.win) == MPI_SUCCESS);
    MPI_Get_accumulate(nullptr, 0, MPI_SHORT_INT, found, n, MPI_SHORT_INT, peer, w.at(peer, 0), n,
                       MPI_SHORT_INT, MPI_NO_OP, w.win);
    CHECK(MPI_Win_fence(0, w.win) == MPI_SUCCESS);
    for (int i = 0; i < n; ++i) CHECK(found[i].value == mine[i].value && found[i].place == i);
    const Pair larger = {30000, 77};
    MPI_Fetch_and_op(&larger, &found[0], MPI_SHORT_INT, peer, w.at(peer, 0), MPI_MAXLOC, w.win);
    CHECK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win) == MPI_SUCCESS);
    CHECK(found[0].value == mine[0].value);
    Pair here;
    std::memcpy(&here, w.base, sizeof here);
    CHECK(here.value == 30000 && here.place == 77);
    std::memcpy(&here, w.base + 1, sizeof here);
    CHECK(here.value == 100 * left + 1 && here.place == 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

// Long blocks, put right after the lock request, and fetched: several full messages.
void long_blocks(Flavor flavor) {
    constexpr int blocks = 300, length = 63, stride = 65;
    Window w(flavor, blocks * stride);
    set_all(w, blocks * stride, 7);
    const int peer = (rank_ + 1) % size_;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(blocks, length, stride, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    std::vector<int64_t> mine(blocks * length), back(blocks * length);
    for (int i = 0; i < blocks * length; ++i) mine[static_cast<size_t>(i)] = 1000000 * rank_ + i;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, w.win);
    MPI_Put(mine.data(), blocks * length, MPI_INT64_T, peer, w.at(peer, 0), 1, type, w.win);
    CHECK(MPI_Win_unlock(peer, w.win) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    const int left = (rank_ + size_ - 1) % size_;
    MPI_Win_lock(MPI_LOCK_SHARED, rank_, 0, w.win);
    for (int b = 0; b < blocks; ++b) {
        const int64_t first = 1000000 * left + b * length;
        CHECK(w.base[b * stride] == first && w.base[b * stride + length - 1] == first + length - 1);
        CHECK(b + 1 == blocks || w.base[b * stride + length] == 7);
    }
    MPI_Win_unlock(rank_, w.win);
    MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, w.win);
    MPI_Get(back.data(), blocks * length, MPI_INT64_T, peer, w.at(peer, 0), 1, type, w.win);
    MPI_Win_unlock(peer, w.win);
    CHECK(back == mine);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&type);
}

void shared_memory() {
    for (const bool contiguous : {true, false}) {
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", contiguous ? "false" : "true");
        Window w(Flavor::shared, 3 + rank_, MPI_COMM_WORLD, info);
        MPI_Info_free(&info);
        MPI_Win_fence(0, w.win);
        w.base[0] = 77 + rank_;
        MPI_Win_fence(0, w.win);
        char* expected = nullptr;
        for (int r = 0; r < size_; ++r) {
            MPI_Aint bytes = 0;
            int unit = 0;
            int64_t* base = nullptr;
            CHECK(MPI_Win_shared_query(w.win, r, &bytes, &unit, &base) == MPI_SUCCESS);
            CHECK(bytes == 8 * (3 + r) && unit == 8 && base[0] == 77 + r);
            if (contiguous && r > 0) CHECK(reinterpret_cast<char*>(base) == expected);
            expected = reinterpret_cast<char*>(base) + bytes;
        }
        MPI_Win_fence(0, w.win);
    }
}

// The result must be the lowest rank with memory, not the lowest whose memory is accessible.
void query_proc_null() {
    std::vector<int64_t> memory(4 + static_cast<size_t>(rank_));
    MPI_Win win = MPI_WIN_NULL;
    const auto own = static_cast<MPI_Aint>(rank_ == 0 && size_ > 1 ? 0 : memory.size() * sizeof(int64_t));
    MPI_Win_create(memory.data(), own, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Aint bytes = -1;
    int unit = 0;
    void* base = nullptr;
    CHECK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &base) == MPI_SUCCESS);
    const int lowest = size_ > 1 ? 1 : 0;
    CHECK(bytes == 0 || bytes == 8 * (4 + lowest));
    if (rank_ == lowest) CHECK(bytes == own && base == memory.data());
    MPI_Win_free(&win);
}

} // namespace

int main(int argc, char** argv) {
    Session session(&argc, &argv);
    const bool together = on_one_host();
    for (const Flavor flavor : flavors) {
        if (flavor == Flavor::shared && !together) continue;
        fences(flavor);
        atomics(flavor);
        exclusion(flavor);
        post_start(flavor);
        layouts(flavor);
        pairs(flavor);
        long_blocks(flavor);
    }
    if (together) shared_memory();
    query_proc_null();
    session.end("windows");
}
