// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The loop of every MPI benchmark here. A point is one thing to time (one size, say). Its number of
// iterations grows until a batch lasts one slice of time; that is the warm-up too. Then the points are swept
// over several times, so that the batches of one point lie apart in time and a bad moment of the machine
// spoils one batch of each instead of all of one. The figure of a point is the median of its batches.
// Options: slice= seconds of a batch, sweeps=, limit= seconds after which no further sweep begins, least= and
// most= iterations of a batch, hurry= seconds: a point of which one iteration takes longer is measured by
// that one only, sizes=.
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "sample.h"
#include <mpi.h>
#include <time.h>

enum { most_points = 128, window = 64 };

struct point {
    const char* name;
    size_t size;
    long iterations;
    int batches;                       // that were measured
    int settled;                       // by the first iteration
    double per_iteration[most_sweeps]; // seconds
};

struct bench {
    int rank, ranks, sweeps;
    double slice, limit, hurry;
    long least, most;
    int points;
    struct point point[most_points];
};

// Seconds that `iterations` took, counted on rank 0. All ranks call it. `stamp` marks the payload of this
// batch.
typedef double (*batch_function)(const struct bench* bench, const struct point* point, long iterations,
                                 char stamp);

static inline struct bench begin_bench(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    struct bench bench = {.sweeps = sweeps_option(*argc, *argv, 7),
                          .slice = number_option(*argc, *argv, "slice", 0.003),
                          .limit = number_option(*argc, *argv, "limit", 10),
                          .hurry = number_option(*argc, *argv, "hurry", 1e9),
                          .least = (long)number_option(*argc, *argv, "least", 1),
                          .most = (long)number_option(*argc, *argv, "most", 1e7)};
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.ranks);
    return bench;
}

static inline void fail(const char* why) {
    fprintf(stderr, "bench: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void need_ranks(const struct bench* bench, int least) {
    if (bench->ranks < least) fail("too few ranks for this benchmark");
}

static inline void add_point(struct bench* bench, const char* name, size_t size) {
    if (bench->points == most_points) fail("too many sizes");
    bench->point[bench->points++] = (struct point){.name = name, .size = size, .iterations = 1};
}

static inline void add_sizes(struct bench* bench, const char* name, int argc, char** argv) {
    size_t sizes[most_points];
    const int count = message_sizes(argc, argv, sizes, most_points);
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

// A clock that all processes of a host share; MPI_Wtime need not be one.
static inline double host_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// From the moment when the first rank began until the last one ended, on rank 0. A rank's own time says
// little when ranks run one after the other on few cores.
static inline double from_first_to_last(double begin, double end) {
    const double mine[2] = {-begin, end};
    double all[2] = {0, 0};
    MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return all[0] + all[1];
}

static inline void calibrate(const struct bench* bench, struct point* point, batch_function batch) {
    point->batches = point->settled = 0;
    for (long next = 1; next;) {
        point->iterations = next;
        const double took = batch(bench, point, next, 1);
        point->settled = next == 1 && took > bench->hurry;
        point->per_iteration[0] = took;
        if (point->settled || took >= bench->slice || next >= bench->most)
            next = 0;
        else
            next = took > bench->slice / 8 ? (long)((double)next * bench->slice / took) + 1 : next * 4;
        if (next > bench->most) next = bench->most;
        long decision[2] = {next, point->settled};
        MPI_Bcast(decision, 2, MPI_LONG, 0, MPI_COMM_WORLD); // rank 0 decides
        next = decision[0];
        point->settled = (int)decision[1];
    }
    point->batches = point->settled;
    if (!point->settled && point->iterations < bench->least) point->iterations = bench->least;
}

// Whether there is a point that needs another sweep.
static inline int unsettled(const struct bench* bench) {
    int open = 0;
    for (int i = 0; i < bench->points; ++i) open += !bench->point[i].settled;
    return open > 0;
}

// Sweeps over all points; afterwards the median time of an iteration is in per_iteration[0] on rank 0.
static inline void measure(struct bench* bench, batch_function batch) {
    for (int i = 0; i < bench->points; ++i) calibrate(bench, &bench->point[i], batch);
    const double begin = MPI_Wtime();
    int done = 0;
    for (int another = unsettled(bench); another;) {
        for (int i = 0; i < bench->points; ++i) {
            struct point* point = &bench->point[i];
            if (point->settled) continue;
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

// The message passes to and fro between ranks 0 and 1; half of that is one iteration's worth of latency.
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

// A window of messages from rank 0 to rank 1, from one buffer to one buffer, answered by an empty message.
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
