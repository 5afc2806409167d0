// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided operations on a target that takes no part in them. The last rank is the target: after the
// connections are set up it is stopped by SIGSTOP ("stop"), or computes ("compute", with
// rma.progress_thread=no), until it reads from its memory that all origins are done.
//
//   idle_target stop|compute
#include "../mpi/check.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int64_t rounds = 15;
constexpr int64_t acquaintance = 8;
constexpr int most_origins = 16;
constexpr int block = 3000;

struct Memory {
    int64_t done; // 1: all origins are done
    int64_t idle; // 1: the target is idle
    int64_t sum;
    int64_t guarded; // read and written under an exclusive lock
    int64_t swapped[most_origins];
    unsigned char blocks[most_origins][block];
};

bool is_done(Memory& m) { return std::atomic_ref(m.done).load() == 1; }

bool is_stopped(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string number, name, state;
    file >> number >> name >> state;
    return state == "T";
}

// Reports that its parent is stopped, and continues it when the origins are done. Forked before MPI starts,
// so that it has no MPI state.
void monitor_parent(Memory& m) {
    const pid_t parent = getpid();
    if (fork() != 0) return;
    for (; getppid() == parent; usleep(2000)) {
        if (is_stopped(parent)) std::atomic_ref(m.idle).store(1);
        if (is_done(m)) kill(parent, SIGCONT);
    }
    _exit(0);
}

void increment(int target, MPI_Win win) {
    int64_t value = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Get(&value, 1, MPI_INT64_T, target, offsetof(Memory, guarded), 1, MPI_INT64_T, win);
    MPI_Win_flush(target, win);
    ++value;
    MPI_Put(&value, 1, MPI_INT64_T, target, offsetof(Memory, guarded), 1, MPI_INT64_T, win);
    MPI_Win_unlock(target, win);
}

void access_target(int target, MPI_Win win, int64_t round) {
    std::vector<unsigned char> out(block, static_cast<unsigned char>(round * 7 + rank_));
    std::vector<unsigned char> in(block);
    const int64_t one = 1;
    const int64_t before = round;
    const int64_t after = round + 1;
    int64_t found = -1;
    int64_t sum = -1;
    const auto place = static_cast<MPI_Aint>(offsetof(Memory, blocks)) + rank_ * block;
    const auto word = static_cast<MPI_Aint>(offsetof(Memory, swapped)) + rank_ * 8;
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Put(out.data(), block, MPI_BYTE, target, place, block, MPI_BYTE, win);
    MPI_Fetch_and_op(&one, &sum, MPI_INT64_T, target, offsetof(Memory, sum), MPI_SUM, win);
    MPI_Compare_and_swap(&after, &before, &found, MPI_INT64_T, target, word, win);
    MPI_Win_flush(target, win);
    MPI_Get(in.data(), block, MPI_BYTE, target, place, block, MPI_BYTE, win);
    MPI_Win_unlock(target, win);
    CHECK(in == out);
    CHECK(found == before);
    CHECK(sum >= round);
    increment(target, win);
}

void run_origin(int target, MPI_Win win, MPI_Comm origins) {
    for (int64_t i = 0; i < acquaintance; ++i) access_target(target, win, i);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t idle = 0; idle != 1;) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        MPI_Get(&idle, 1, MPI_INT64_T, target, offsetof(Memory, idle), 1, MPI_INT64_T, win);
        MPI_Win_unlock(target, win);
        if (idle != 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    for (int64_t i = 0; i < rounds; ++i) access_target(target, win, acquaintance + i);
    MPI_Barrier(origins);
    if (rank_ != 0) return;
    const int64_t yes = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Put(&yes, 1, MPI_INT64_T, target, offsetof(Memory, done), 1, MPI_INT64_T, win);
    MPI_Win_unlock(target, win);
}

void run_target(Memory& m, bool stops) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (stops) raise(SIGSTOP);
    std::atomic_ref(m.idle).store(1);
    while (!is_done(m)) std::this_thread::yield();
    CHECK(is_done(m));
    CHECK(m.sum == (acquaintance + rounds) * (size_ - 1));
    CHECK(m.guarded == (acquaintance + rounds) * (size_ - 1));
}

} // namespace

int main(int argc, char** argv) {
    const bool stops = argc > 1 && std::string(argv[1]) == "stop";
    void* const memory =
        mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto& m = *new (memory) Memory{};
    if (stops) monitor_parent(m);
    Session session(&argc, &argv);
    const int target = size_ - 1;
    CHECK(size_ <= most_origins);
    MPI_Comm origins = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank_ == target ? MPI_UNDEFINED : 0, 0, &origins);
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_create(&m, sizeof m, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank_ == target)
        run_target(m, stops);
    else
        run_origin(target, win, origins);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    if (origins != MPI_COMM_NULL) MPI_Comm_free(&origins);
    session.end("idle_target");
}
