// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_THREAD_MULTIPLE: four threads per rank, all at once. Each thread exchanges messages with its peer
// thread on the next rank over its own tag, receives with a wildcard source, does collectives on its own
// communicator, and creates and frees communicators; one more thread waits all the time in a receive that
// completes only after the others are done.
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;
int rank_ = 0;
int size_ = 0;

void check_at(bool ok, const char* what, int line) {
    if (ok) return;
    std::fprintf(stderr, "threads: rank %d: check failed at line %d: %s\n", rank_, line, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}
#define CHECK(condition) check_at((condition), #condition, __LINE__)

void ring(int thread, int rounds) {
    const int next = (rank_ + 1) % size_;
    std::vector<int> out(20000);
    std::vector<int> in(20000);
    for (int i = 0; i < rounds; ++i) {
        const int n = i % 50 == 0 ? 20000 : 1 + i % 30;
        for (int k = 0; k < n; ++k) out[static_cast<size_t>(k)] = rank_ * 1000000 + thread * 100000 + i + k;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Irecv(in.data(), 20000, MPI_INT, MPI_ANY_SOURCE, thread, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out.data(), n, MPI_INT, next, thread, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        int got = 0;
        MPI_Get_count(&statuses[0], MPI_INT, &got);
        const int previous = (rank_ + size_ - 1) % size_;
        CHECK(got == n && statuses[0].MPI_SOURCE == previous);
        CHECK(in[static_cast<size_t>(n - 1)] == previous * 1000000 + thread * 100000 + i + n - 1);
    }
}

void collectives(MPI_Comm comm, int thread, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        int sum = rank_ + thread + i;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == size_ * (size_ - 1) / 2 + size_ * (thread + i));
        if (i % 4 == 0) {
            MPI_Comm copy;
            MPI_Comm_dup(comm, &copy);
            int own = thread; // two communicators with one context would confuse these
            MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT, MPI_MAX, copy);
            CHECK(own == thread);
            MPI_Comm_free(&copy);
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    int rounds = 300;
    for (int i = 1; i < argc; ++i) std::sscanf(argv[i], "rounds=%d", &rounds);
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm comms[threads];
    for (auto& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::thread waiting([] {
        int value = 0;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == 4711);
    });
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t)
        workers.emplace_back([&, t] {
            ring(t, rounds);
            collectives(comms[t], t, rounds);
        });
    for (auto& w : workers) w.join();
    const int value = 4711;
    MPI_Send(&value, 1, MPI_INT, (rank_ + 1) % size_, 99, MPI_COMM_WORLD);
    waiting.join();
    for (auto& comm : comms) MPI_Comm_free(&comm);
    if (rank_ == 0) std::printf("threads: ok\n");
    MPI_Finalize();
    return 0;
}
