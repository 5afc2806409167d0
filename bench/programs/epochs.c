// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rank 0 puts into the window of rank 1, once for each synchronization method: between fences, after post and
// start, under an exclusive lock, and with a flush under a lock that it keeps. Rank 1 takes part where
// required, otherwise it waits in a barrier. Results by bytes of a put: epoch_METHOD, an epoch with one put,
// us; epoch_bandwidth_METHOD, epochs of 64 puts, MB/s; epoch_hidden_METHOD: fraction of an epoch with one put
// that is hidden behind a computation of equal length between put and end. Options: sizes=.
#include "bench.h"

enum method { fence, post_start, lock, flush, method_count };
static const char* const method_names[] = {"fence", "post_start", "lock", "flush"};

static MPI_Win win;
static MPI_Group other;
static char *memory, *out;
static enum method method;
static int put_count = 1; // per epoch
static double computing;

static void begin_epoch(int rank) {
    if (method == fence) MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    if (method == lock) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    if (method == post_start && rank == 0) MPI_Win_start(other, 0, win);
    if (method == post_start && rank == 1) MPI_Win_post(other, 0, win);
}

static void end_epoch(int rank) {
    if (method == fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (method == lock) MPI_Win_unlock(1, win);
    if (method == flush) MPI_Win_flush(1, win);
    if (method == post_start && rank == 0) MPI_Win_complete(win);
    if (method == post_start && rank == 1) MPI_Win_wait(win);
}

static void epoch(int rank, size_t size) {
    begin_epoch(rank);
    for (int i = 0; i < put_count && rank == 0; ++i)
        MPI_Put(out, (int)size, MPI_BYTE, 1, (MPI_Aint)((size_t)i * size), (int)size, MPI_BYTE, win);
    if (computing > 0 && rank == 0) compute(computing);
    end_epoch(rank);
}

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    const int participates = bench->rank == 0 || method == fence || method == post_start;
    mark(out, point->size, stamp);
    MPI_Barrier(MPI_COMM_WORLD);
    if (method == flush && bench->rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations && participates; ++i) epoch(bench->rank, point->size);
    const double took = MPI_Wtime() - begin;
    if (method == flush && bench->rank == 0) MPI_Win_unlock(1, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench->rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        check(memory + (size_t)(put_count - 1) * point->size, point->size, stamp);
        MPI_Win_unlock(1, win);
    }
    return took;
}

static double measure_point(struct bench* bench, const char* name, size_t size) {
    bench->points = 0;
    add_point(bench, name, size);
    measure(bench, batch);
    return bench->point[0].per_iteration[0];
}

static void run(struct bench* bench, size_t size) {
    char name[48];
    put_count = 1;
    snprintf(name, sizeof name, "epoch_%s", method_names[method]);
    const double alone = measure_point(bench, name, size);
    if (bench->rank == 0) report(name, size, 1e6 * alone, "us");
    computing = alone; // rank 0 only
    snprintf(name, sizeof name, "epoch_hidden_%s", method_names[method]);
    const double hidden = 2 - measure_point(bench, name, size) / alone;
    if (bench->rank == 0) report(name, size, 100 * (hidden < 0 ? 0 : hidden > 1 ? 1 : hidden), "%hidden");
    computing = 0;
    put_count = window;
    snprintf(name, sizeof name, "epoch_bandwidth_%s", method_names[method]);
    const double seconds = measure_point(bench, name, size);
    if (bench->rank == 0) report(name, size, 1e-6 * (double)size * window / seconds, "MB/s");
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    size_t sizes[max_points], largest = 0;
    const int points = message_sizes(argc, argv, sizes, max_points);
    if (bench.ranks != 2) fail("epochs are measured between two ranks");
    for (int i = 0; i < points; ++i) largest = sizes[i] > largest ? sizes[i] : largest;
    out = touched_memory(largest);
    MPI_Win_allocate((MPI_Aint)(window * largest), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, window * largest);
    const int peer = 1 - bench.rank;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    MPI_Group_free(&all);
    for (method = fence; method < method_count; ++method)
        for (int i = 0; i < points; ++i) run(&bench, sizes[i]);
    MPI_Group_free(&other);
    MPI_Win_free(&win);
    free(out);
    MPI_Finalize();
    return 0;
}
