// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Epochs with puts to all ranks, and the order of accesses of three ranks across a fence.
//
//   synchronization fence|ifence|complete|unlock_all|order [ROUNDS [METHOD]]    METHOD: value of the hint
//   zipmpi_fence
#include "../mpi/check.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

// Some words of the end of a block are put alone, so that an operation of another kind overtakes the long
// one.
constexpr int block = 1500; // words: above the bytes that an origin copies
constexpr int words = 4;

struct Window {
    MPI_Win win = MPI_WIN_NULL;
    int64_t* base = nullptr;

    explicit Window(const char* fence) {
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        if (fence != nullptr) MPI_Info_set(info, "zipmpi_fence", fence);
        MPI_Win_allocate(static_cast<MPI_Aint>(block + words) * size_ * 8, 8, info, MPI_COMM_WORLD, &base,
                         &win);
        MPI_Info_free(&info);
        std::memset(base, 0, static_cast<size_t>(block + words) * static_cast<size_t>(size_) * 8);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~Window() { MPI_Win_free(&win); }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    // The values of a round for a rank, at the place of this rank.
    void put_to(int target, const std::vector<int64_t>& out) const {
        const MPI_Aint at = static_cast<MPI_Aint>(rank_) * (block + words);
        MPI_Put(out.data(), block, MPI_INT64_T, target, at, block, MPI_INT64_T, win);
        MPI_Put(out.data() + block, words, MPI_INT64_T, target, at + block, words, MPI_INT64_T, win);
    }
    [[nodiscard]] bool has_from(int origin, int64_t value) const {
        const int64_t* const at = base + static_cast<ptrdiff_t>(origin) * (block + words);
        for (int i = 0; i < block + words; ++i)
            if (at[i] != value) return false;
        return true;
    }
};

void put_to_all(const Window& w, const std::vector<int64_t>& out) {
    for (int r = 0; r < size_; ++r)
        if (r != rank_) w.put_to(r, out);
}

// Everything has arrived when the epoch is over. The barrier separates the check from the next epoch.
void check_all(const Window& w, int64_t value) {
    for (int r = 0; r < size_; ++r) CHECK(r == rank_ || w.has_from(r, value));
    MPI_Barrier(MPI_COMM_WORLD);
}

void fences(const Window& w, int rounds, bool nonblocking) {
    MPI_Win_fence(0, w.win);
    for (int64_t i = 1; i <= rounds; ++i) {
        const std::vector<int64_t> out(block + words, i);
        put_to_all(w, out);
        if (nonblocking) {
            MPI_Request request = MPI_REQUEST_NULL;
            MPIX_Win_ifence(0, w.win, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Win_fence(0, w.win);
        }
        check_all(w, i);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
}

void completes(const Window& w, int rounds) {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group others = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, &rank_, &others);
    for (int64_t i = 1; i <= rounds; ++i) {
        const std::vector<int64_t> out(block + words, i);
        MPI_Win_post(others, 0, w.win);
        MPI_Win_start(others, 0, w.win);
        put_to_all(w, out);
        MPI_Win_complete(w.win);
        MPI_Win_wait(w.win);
        check_all(w, i);
    }
    MPI_Group_free(&others);
    MPI_Group_free(&all);
}

void unlocks(const Window& w, int rounds) {
    for (int64_t i = 1; i <= rounds; ++i) {
        const std::vector<int64_t> out(block + words, i);
        MPI_Win_lock_all(0, w.win);
        put_to_all(w, out);
        MPI_Win_unlock_all(w.win);
        MPI_Barrier(MPI_COMM_WORLD);
        check_all(w, i);
    }
}

// One rank puts to a second one. After the fence a third one, which took no part, gets the values, and then
// overwrites them. In between the target stores into the same place.
void order(const Window& w, int rounds) {
    constexpr int n = block + words;
    std::vector<int64_t> in(n);
    MPI_Win_fence(0, w.win);
    for (int64_t i = 1; i <= rounds; ++i) {
        const int origin = static_cast<int>(i) % size_;
        const int target = static_cast<int>(i + 1 + i / size_ % (size_ - 2)) % size_;
        const int third = (target + 1) % size_ != origin ? (target + 1) % size_ : (target + 2) % size_;
        const std::vector<int64_t> first(n, i);
        const std::vector<int64_t> second(n, -i);
        const MPI_Aint at = static_cast<MPI_Aint>(i % size_) * n;
        if (rank_ == origin) {
            MPI_Put(first.data(), block, MPI_INT64_T, target, at, block, MPI_INT64_T, w.win);
            MPI_Put(first.data() + block, words, MPI_INT64_T, target, at + block, words, MPI_INT64_T, w.win);
        }
        MPI_Win_fence(0, w.win);
        if (rank_ == third) MPI_Get(in.data(), n, MPI_INT64_T, target, at, n, MPI_INT64_T, w.win);
        if (rank_ == target) CHECK(w.has_from(static_cast<int>(i % size_), i));
        MPI_Win_fence(0, w.win);
        if (rank_ == target) std::memset(w.base + at, 0x55, n * 8); // after the get
        MPI_Win_fence(0, w.win);
        if (rank_ == third) {
            CHECK(in == first);
            MPI_Put(second.data(), n, MPI_INT64_T, target, at, n, MPI_INT64_T, w.win);
        }
        MPI_Win_fence(0, w.win);
        if (rank_ == target) CHECK(w.has_from(static_cast<int>(i % size_), -i));
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
}

void run(const std::string& what, int rounds, const char* fence) {
    const Window w(fence);
    if (what == "fence" || what == "ifence")
        fences(w, rounds, what == "ifence");
    else if (what == "complete")
        completes(w, rounds);
    else if (what == "unlock_all")
        unlocks(w, rounds);
    else
        order(w, rounds);
}

} // namespace

int main(int argc, char** argv) {
    Session session(&argc, &argv);
    CHECK(size_ >= 3);
    run(argc > 1 ? argv[1] : "order", argc > 2 ? std::atoi(argv[2]) : 20, argc > 3 ? argv[3] : nullptr);
    session.end("synchronization");
}
