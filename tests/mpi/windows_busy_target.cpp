// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on ranks that compute: rank 0 accesses the windows of all others, which stay outside MPI until
// the effect appears in their memory. usage: windows_busy_target
#include "check.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace {

enum Flavor { created, allocated, dynamic, flavors };
enum Word { announced, sum, swapped, locked, words };
constexpr int64_t rounds = 20;

// Computes outside MPI until the value appears.
void await(int64_t& word, int64_t value) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(60);
    while (std::atomic_ref(word).load() < value) CHECK(Clock::now() < end);
}

void access_target(int target, MPI_Aint base, MPI_Aint unit, MPI_Win win, int64_t round) {
    const auto at = [&](Word word) { return base + word * unit; };
    const int64_t one = 1;
    const int64_t before = round - 1;
    int64_t found = -1;
    int64_t got = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Put(&round, 1, MPI_INT64_T, target, at(locked), 1, MPI_INT64_T, win);
    MPI_Win_unlock(target, win);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, target, at(sum), 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Compare_and_swap(&round, &before, &found, MPI_INT64_T, target, at(swapped), win);
    MPI_Get(&got, 1, MPI_INT64_T, target, at(locked), 1, MPI_INT64_T, win);
    MPI_Win_flush(target, win);
    CHECK(found == before && got == round);
    MPI_Put(&round, 1, MPI_INT64_T, target, at(announced), 1, MPI_INT64_T, win);
    MPI_Win_unlock(target, win);
}

void run_rounds(Flavor flavor) {
    int64_t own[words] = {};
    int64_t* base = own;
    MPI_Win win = MPI_WIN_NULL;
    const auto bytes = static_cast<MPI_Aint>(sizeof own);
    if (flavor == created) MPI_Win_create(own, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (flavor == allocated) MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (flavor == dynamic) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, own, bytes);
    }
    MPI_Aint mine = 0;
    if (flavor == dynamic) MPI_Get_address(own, &mine);
    std::vector<MPI_Aint> bases(static_cast<size_t>(size_));
    MPI_Allgather(&mine, 1, MPI_AINT, bases.data(), 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_, 0, win);
    for (int i = 0; i < words; ++i) base[i] = 0;
    MPI_Win_unlock(rank_, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t round = 1; round <= rounds; ++round) {
        for (int r = 1; rank_ == 0 && r < size_; ++r)
            access_target(r, bases[static_cast<size_t>(r)], flavor == dynamic ? 8 : 1, win, round);
        if (rank_ != 0) await(base[announced], round);
        if (round % 4 == 0) MPI_Barrier(MPI_COMM_WORLD); // rank 0 may be ahead until then
    }
    MPI_Win_lock(MPI_LOCK_SHARED, rank_, 0, win);
    for (int i = 0; rank_ != 0 && i < words; ++i) CHECK(base[i] == rounds);
    MPI_Win_unlock(rank_, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (flavor == dynamic) MPI_Win_detach(win, own);
    MPI_Win_free(&win);
}

} // namespace

int main(int argc, char** argv) {
    Session session(&argc, &argv);
    for (int flavor = created; flavor < flavors; ++flavor) run_rounds(static_cast<Flavor>(flavor));
    session.end("windows_busy_target");
}
