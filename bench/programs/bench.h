// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The measurement loop of all MPI benchmarks here. A point is one timed case (one size, for example). Its
// number of iterations grows until a batch lasts one slice of time, which is also the warm-up. Then all
// points are swept several times, so that a disturbance of the machine spoils one batch of each instead of
// all batches of one. The result of a point is the median of its batches. Options: slice= seconds of a batch,
// sweeps=, limit= seconds after which no further sweep begins, least= and most= iterations of a batch, hurry=
// seconds: a point with a longer iteration is measured by that one only, sizes=.
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "sample.h"
#include <mpi.h>
#include <time.h>

enum { max_points = 128, window = 64 };

struct point {
    const char* name;
    size_t size;
    long iterations;
    int batches;                      // measured batches
    int complete;                     // measured by its first iteration only
    double per_iteration[max_sweeps]; // seconds
};

struct bench {
    int rank, ranks, sweeps;
    double slice, limit, slow_limit;
    long min_iterations, max_iterations;
    int points;
    struct point point[max_points];
};

// Seconds of `iterations`, measured on rank 0. All ranks call it. `stamp` marks the payload of this batch.
typedef double (*batch_function)(const struct bench* bench, const struct point* point, long iterations,
                                 char stamp);

static inline struct bench begin_bench(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    struct bench bench = {.sweeps = sweeps_option(*argc, *argv, 7),
                          .slice = number_option(*argc, *argv, "slice", 0.003),
                          .limit = number_option(*argc, *argv, "limit", 10),
                          .slow_limit = number_option(*argc, *argv, "hurry", 1e9),
                          .min_iterations = (long)number_option(*argc, *argv, "least", 1),
                          .max_iterations = (long)number_option(*argc, *argv, "most", 1e7)};
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.ranks);
    return bench;
}

static inline void fail(const char* why) {
    fprintf(stderr, "bench: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void require_ranks(const struct bench* bench, int least) {
    if (bench->ranks < least) fail("too few ranks for this benchmark");
}

static inline void add_point(struct bench* bench, const char* name, size_t size) {
    if (bench->points == max_points) fail("too many sizes");
    bench->point[bench->points++] = (struct point){.name = name, .size = size, .iterations = 1};
}

static inline void add_sizes(struct bench* bench, const char* name, int argc, char** argv) {
    size_t sizes[max_points];
    const int count = message_sizes(argc, argv, sizes, max_points);
    for (int i = 0; i < count; ++i) add_point(bench, name, sizes[i]);
}

static inline void mark(char* buffer, size_t size, char stamp) {
    if (size) buffer[0] = buffer[size - 1] = stamp;
}

static inline void check(const char* buffer, size_t size, char stamp) {
    if (size && (buffer[0] != stamp || buffer[size - 1] != stamp)) fail("wrong data in a received message");
}

static inline void compute(double seconds) {
    for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
    }
}

// A clock shared by all processes of a host; MPI_Wtime need not be one.
static inline double host_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// Time from the start of the first rank to the end of the last one, on rank 0. The time of a single rank says
// little when ranks share few cores.
static inline double elapsed_over_ranks(double begin, double end) {
    const double local[2] = {-begin, end};
    double all[2] = {0, 0};
    MPI_Reduce(local, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return all[0] + all[1];
}

static inline void calibrate(const struct bench* bench, struct point* point, batch_function batch) {
    point->batches = point->complete = 0;
    for (long next = 1; next;) {
        point->iterations = next;
        const double took = batch(bench, point, next, 1);
        point->complete = next == 1 && took > bench->slow_limit;
        point->per_iteration[0] = took;
        if (point->complete || took >= bench->slice || next >= bench->max_iterations)
            next = 0;
        else
            next = took > bench->slice / 8 ? (long)((double)next * bench->slice / took) + 1 : next * 4;
        if (next > bench->max_iterations) next = bench->max_iterations;
        long decision[2] = {next, point->complete};
        MPI_Bcast(decision, 2, MPI_LONG, 0, MPI_COMM_WORLD); // rank 0 decides
        next = decision[0];
        point->complete = (int)decision[1];
    }
    point->batches = point->complete;
    if (!point->complete && point->iterations < bench->min_iterations)
        point->iterations = bench->min_iterations;
}

// Whether any point needs another sweep.
static inline int has_open_points(const struct bench* bench) {
    int open = 0;
    for (int i = 0; i < bench->points; ++i) open += !bench->point[i].complete;
    return open > 0;
}

// Sweeps over all points; afterwards the median time of an iteration is in per_iteration[0] on rank 0.
static inline void measure(struct bench* bench, batch_function batch) {
    for (int i = 0; i < bench->points; ++i) calibrate(bench, &bench->point[i], batch);
    const double begin = MPI_Wtime();
    int done = 0;
    for (int another = has_open_points(bench); another;) {
        for (int i = 0; i < bench->points; ++i) {
            struct point* point = &bench->point[i];
            if (point->complete) continue;
            point->per_iteration[point->batches++] =
                batch(bench, point, point->iterations, (char)(done + 2)) / (double)point->iterations;
        }
        ++done;
        another = done < bench->sweeps && MPI_Wtime() - begin < bench->limit;
        MPI_Bcast(&another, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < bench->points; ++i)
        bench->point[i].per_iteration[0] = median(bench->point[i].per_iteration, bench->point[i].batches);
}

// Ping-pong between ranks 0 and 1; half of a round trip is one iteration's latency.
static inline double ping_pong(int rank, char* out, char* in, size_t size, long iterations, char stamp) {
    const int bytes = (int)size, peer = 1 - rank;
    mark(out, size, stamp);
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations; ++i) {
        if (rank == 0) MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
    const double took = MPI_Wtime() - begin;
    check(in, size, stamp);
    return took;
}

// A window of messages from rank 0 to rank 1, from one buffer to one buffer, acknowledged by an empty
// message.
static inline void one_window(int rank, char* out, char* in, int count, MPI_Datatype type) {
    MPI_Request requests[window];
    if (rank == 0) {
        for (int i = 0; i < window; ++i) MPI_Isend(out, count, type, 1, 1, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < window; ++i) MPI_Irecv(in, count, type, 0, 1, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
}

#endif
