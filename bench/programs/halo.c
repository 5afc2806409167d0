// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Every rank repeatedly puts its borders into the windows of 4 or 8 neighbors on a torus while it computes:
// with fences, with post and start, with permanent locks and a flush, and by messages for comparison; where
// the library has them, also with nonblocking fences of all ranks (ifence) and of neighbors
// (ifence_neighbors). Results: halo_METHOD_N by bytes of a border for N = 4 or 8 neighbors, microseconds of a
// step; hidden_METHOD: fraction of a step with 4 neighbors hidden behind a computation of equal length.
// Options: sizes=.
#include "bench.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

enum method {
    fence,
    post_start,
    flush,
    messages,
#ifdef ZIPMPI_HAVE_NONBLOCKING_RMA_SYNC
    ifence,
    ifence_neighbors,
#endif
    method_count
};
static const char* const method_names[] = {"fence",    "post_start", "flush",
                                           "messages", "ifence",     "ifence_neighbors"};
enum { max_neighbors = 8 };

static MPI_Win win;
static char *memory, *border;
static MPI_Group group;
static int neighbors[max_neighbors], count;
static enum method method;
static double computing;

// Offset for neighbor i in the window of the other: borders of different origins never overlap.
static MPI_Aint border_offset(int i, size_t size) { return (MPI_Aint)((size_t)i * size); }

static void put_borders(size_t size) {
    for (int i = 0; i < count; ++i)
        MPI_Put(border, (int)size, MPI_BYTE, neighbors[i], border_offset(i, size), (int)size, MPI_BYTE, win);
}

static void compute_if_measured(void) {
    if (computing > 0) compute(computing);
}

// Whether the epochs of a method are separated by fences.
static int is_fenced(void) {
#ifdef ZIPMPI_HAVE_NONBLOCKING_RMA_SYNC
    if (method == ifence || method == ifence_neighbors) return 1;
#endif
    return method == fence;
}

static void exchange_messages(size_t size) {
    MPI_Request requests[2 * max_neighbors];
    for (int i = 0; i < count; ++i) // data received from direction i is sent in the opposite one
        MPI_Irecv(memory + border_offset(i, size), (int)size, MPI_BYTE, neighbors[i ^ 1], i, MPI_COMM_WORLD,
                  &requests[i]);
    for (int i = 0; i < count; ++i)
        MPI_Isend(border, (int)size, MPI_BYTE, neighbors[i], i, MPI_COMM_WORLD, &requests[count + i]);
    compute_if_measured();
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
}

static void step(size_t size) {
    switch (method) {
    case fence:
        put_borders(size);
        compute_if_measured();
        MPI_Win_fence(0, win);
        return;
    case post_start:
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
        put_borders(size);
        compute_if_measured();
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        return;
    case flush:
        put_borders(size);
        compute_if_measured();
        MPI_Win_flush_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        return;
#ifdef ZIPMPI_HAVE_NONBLOCKING_RMA_SYNC
    case ifence:
    case ifence_neighbors: {
        MPI_Request request;
        put_borders(size);
        if (method == ifence)
            MPIX_Win_ifence(0, win, &request);
        else
            MPIX_Win_ifence_neighbors(group, 0, win, &request);
        compute_if_measured();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
#endif
    default:
        exchange_messages(size);
    }
}

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    (void)bench;
    mark(border, point->size, stamp);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_fenced()) MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    if (method == flush) MPI_Win_lock_all(0, win);
    const double begin = host_time();
    for (long i = 0; i < iterations; ++i) step(point->size);
    const double end = host_time();
    if (is_fenced()) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (method == flush) MPI_Win_unlock_all(win);
    for (int i = 0; i < count; ++i) check(memory + border_offset(i, point->size), point->size, stamp);
    return elapsed_over_ranks(begin, end);
}

// Pairs of opposite directions, so that direction i ^ 1 leads back.
static void find_neighbors(int ranks, int rank, int wanted) {
    static const int steps[max_neighbors][2] = {{1, 0}, {-1, 0},  {0, 1},  {0, -1},
                                                {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
    int sides[2] = {0, 0}, others[max_neighbors];
    MPI_Group all;
    MPI_Dims_create(ranks, 2, sides);
    const int row = rank / sides[1], column = rank % sides[1];
    count = wanted;
    for (int i = 0; i < wanted; ++i)
        neighbors[i] = (row + steps[i][0] + sides[0]) % sides[0] * sides[1] +
                       (column + steps[i][1] + sides[1]) % sides[1];
    int different = 0; // a group contains each rank once
    for (int i = 0; i < wanted; ++i) {
        int seen = 0;
        for (int k = 0; k < different; ++k) seen |= others[k] == neighbors[i];
        if (!seen) others[different++] = neighbors[i];
    }
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (group != MPI_GROUP_NULL) MPI_Group_free(&group);
    MPI_Group_incl(all, different, others, &group);
    MPI_Group_free(&all);
}

static double measure_point(struct bench* bench, const char* name, size_t size) {
    bench->points = 0;
    add_point(bench, name, size);
    measure(bench, batch);
    double seconds = bench->point[0].per_iteration[0];
    MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return seconds;
}

static void run(struct bench* bench, int wanted, size_t size) {
    char name[48];
    find_neighbors(bench->ranks, bench->rank, wanted);
    for (method = fence; method < method_count; ++method) {
        computing = 0;
        snprintf(name, sizeof name, "halo_%s_%d", method_names[method], wanted);
        const double alone = measure_point(bench, name, size);
        if (bench->rank == 0) report(name, size, 1e6 * alone, "us");
        if (wanted != 4) continue;
        computing = alone;
        snprintf(name, sizeof name, "hidden_%s", method_names[method]);
        const double hidden = 2 - measure_point(bench, name, size) / alone;
        if (bench->rank == 0) report(name, size, 100 * (hidden < 0 ? 0 : hidden > 1 ? 1 : hidden), "%hidden");
    }
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    size_t sizes[max_points];
    const int points = message_sizes(argc, argv, sizes, max_points);
    group = MPI_GROUP_NULL;
    border = touched_memory(largest_message);
    MPI_Win_allocate((MPI_Aint)max_neighbors * largest_message, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    for (int i = 0; i < points; ++i) {
        run(&bench, 4, sizes[i]);
        run(&bench, 8, sizes[i]);
    }
    MPI_Group_free(&group);
    MPI_Win_free(&win);
    free(border);
    MPI_Finalize();
    return 0;
}
