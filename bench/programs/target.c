// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How much a target is needed, and how much it is disturbed. Rank 0 locks the window of rank 1, gets, and
// unlocks, again and again; rank 1 works, and looks into MPI (MPI_Iprobe) after every so many microseconds of
// work. Results, by these microseconds: access_working, us of one access; slowed_working: time of the work
// with rank 0 active, in parts of the time without. Options: sizes= of work, bytes= of a get, seconds= of the
// work that is slowed.
#include "bench.h"

#include <stdint.h>

enum { most_bytes = 1 << 16 };
enum { stop = 1 };
static MPI_Win win;
static char in[most_bytes];
static int bytes;
static double rate; // turns of the loop in a microsecond

static void work(double microseconds) {
    volatile uint64_t sink = 0;
    uint64_t x = 88172645463325252ULL;
    for (long n = (long)(rate * microseconds); n > 0; --n)
        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    sink = x;
    (void)sink;
}

static void calibrate_work(void) { // the fastest of some tries
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

static int told_to_stop(int peer) {
    int there = 0;
    MPI_Iprobe(peer, stop, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (there) MPI_Recv(NULL, 0, MPI_BYTE, peer, stop, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return there;
}

static void tell_to_stop(int peer) { MPI_Send(NULL, 0, MPI_BYTE, peer, stop, MPI_COMM_WORLD); }

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    double took = 0;
    (void)stamp;
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench->rank == 0) {
        const double begin = MPI_Wtime();
        for (long i = 0; i < iterations; ++i) access_once();
        took = MPI_Wtime() - begin;
        tell_to_stop(1);
    } else {
        do work((double)point->size);
        while (!told_to_stop(0));
    }
    return took;
}

// Time of the work on rank 1, while rank 0 is active, or waits.
static double working(int rank, size_t microseconds, double seconds, int active) {
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
        tell_to_stop(0);
        MPI_Send(&took, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    } else {
        while (active && !told_to_stop(1)) access_once();
        if (!active) MPI_Recv(NULL, 0, MPI_BYTE, 1, stop, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&took, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return took;
}

static double slowed(const struct bench* bench, size_t microseconds, double seconds) {
    double ratios[most_sweeps];
    for (int i = 0; i < bench->sweeps; ++i) {
        const double active = working(bench->rank, microseconds, seconds, 1);
        const double alone = working(bench->rank, microseconds, seconds, 0);
        ratios[i] = bench->rank == 0 ? active / alone : 1;
    }
    return median(ratios, bench->sweeps);
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    bytes = (int)number_option(argc, argv, "bytes", 8);
    const double seconds = number_option(argc, argv, "seconds", 0.02);
    if (bytes < 1 || bytes > most_bytes) fail("bytes= wants 1 to 65536");
    if (bench.ranks != 2) fail("one origin and one target are needed");
    char* memory = NULL;
    MPI_Win_allocate(most_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    calibrate_work();
    add_sizes(&bench, "access_working", argc, argv);
    measure(&bench, batch);
    for (int i = 0; i < bench.points; ++i) {
        const size_t size = bench.point[i].size;
        const double ratio = slowed(&bench, size, seconds);
        if (bench.rank != 0) continue;
        report("access_working", size, 1e6 * bench.point[i].per_iteration[0], "us");
        report("slowed_working", size, ratio, "x");
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
