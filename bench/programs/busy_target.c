// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How much an access depends on its target, and how much it disturbs it. Rank 0 repeatedly locks the window
// of rank 1, gets, and unlocks; rank 1 computes, and calls MPI_Iprobe after each N microseconds. Results by
// N: access_working, us of one access; slowed_working: time of the computation with rank 0 active, relative
// to the time without. Options: sizes= N, bytes= of a get, seconds= of the computation.
#include "bench.h"

#include <stdint.h>

enum { max_bytes = 1 << 16 };
enum { stop = 1 };
static MPI_Win win;
static char in[max_bytes];
static int bytes;
static double rate; // loop iterations per microsecond

static void work(double microseconds) {
    volatile uint64_t sink = 0;
    uint64_t x = 88172645463325252ULL;
    for (long n = (long)(rate * microseconds); n > 0; --n)
        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    sink = x;
    (void)sink;
}

static void calibrate_work(void) { // the fastest of several tries
    rate = 100;
    double best = 1e9;
    for (int i = 0; i < 20; ++i) {
        const double begin = host_time();
        work(10000);
        const double took = host_time() - begin;
        best = took < best ? took : best;
    }
    rate = 100 * 10000 / (1e6 * best);
}

static void access_once(void) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Get(in, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
    MPI_Win_unlock(1, win);
}

static int stop_requested(int peer) {
    int there = 0;
    MPI_Iprobe(peer, stop, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (there) MPI_Recv(NULL, 0, MPI_BYTE, peer, stop, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return there;
}

static void request_stop(int peer) { MPI_Send(NULL, 0, MPI_BYTE, peer, stop, MPI_COMM_WORLD); }

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    double took = 0;
    (void)stamp;
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench->rank == 0) {
        const double begin = MPI_Wtime();
        for (long i = 0; i < iterations; ++i) access_once();
        took = MPI_Wtime() - begin;
        request_stop(1);
    } else {
        do work((double)point->size);
        while (!stop_requested(0));
    }
    return took;
}

// Time of the computation on rank 1, while rank 0 is active, or waits.
static double time_work(int rank, size_t microseconds, double seconds, int active) {
    double took = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        int there = 0;
        const double begin = host_time();
        for (double done = 0; done < 1e6 * seconds; done += (double)microseconds) {
            work((double)microseconds);
            MPI_Iprobe(0, stop, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        }
        took = host_time() - begin;
        request_stop(0);
        MPI_Send(&took, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    } else {
        while (active && !stop_requested(1)) access_once();
        if (!active) MPI_Recv(NULL, 0, MPI_BYTE, 1, stop, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&took, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return took;
}

static double slowdown(const struct bench* bench, size_t microseconds, double seconds) {
    double ratios[max_sweeps];
    for (int i = 0; i < bench->sweeps; ++i) {
        const double active = time_work(bench->rank, microseconds, seconds, 1);
        const double undisturbed = time_work(bench->rank, microseconds, seconds, 0);
        ratios[i] = bench->rank == 0 ? active / undisturbed : 1;
    }
    return median(ratios, bench->sweeps);
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    bytes = (int)number_option(argc, argv, "bytes", 8);
    const double seconds = number_option(argc, argv, "seconds", 0.02);
    if (bytes < 1 || bytes > max_bytes) fail("bytes= must be 1 to 65536");
    if (bench.ranks != 2) fail("needs two ranks, one origin and one target");
    char* memory = NULL;
    MPI_Win_allocate(max_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    calibrate_work();
    add_sizes(&bench, "access_working", argc, argv);
    measure(&bench, batch);
    for (int i = 0; i < bench.points; ++i) {
        const size_t size = bench.point[i].size;
        const double ratio = slowdown(&bench, size, seconds);
        if (bench.rank != 0) continue;
        report("access_working", size, 1e6 * bench.point[i].per_iteration[0], "us");
        report("slowed_working", size, ratio, "x");
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
