// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Distributes tasks of different lengths. Each group of ranks has a counter of its tasks at its first rank; a
// rank that finds it exhausted takes chunks from the counters of other groups. All by MPI_Fetch_and_op, while
// the owners of the counters compute like the others. Results: tasks, thousands per second of all ranks
// together; tasks_flat: with one counter for all. Options: tasks= of each rank, micro= seconds of a task,
// group= ranks.
#include "bench.h"

#include <stdint.h>

static MPI_Win win;
static int64_t* counter;

static int64_t claim_chunk(int leader, int64_t chunk) {
    int64_t before = 0;
    MPI_Fetch_and_op(&chunk, &before, MPI_INT64_T, leader, 0, MPI_SUM, win);
    MPI_Win_flush(leader, win);
    return before;
}

// Runs tasks of one group until its counter is exhausted.
static int64_t run_group(int leader, int64_t there, int64_t chunk, double seconds) {
    int64_t done = 0;
    for (int64_t first; (first = claim_chunk(leader, chunk)) < there;)
        for (int64_t t = first; t < first + chunk && t < there; ++t, ++done)
            compute(seconds * (double)(1 + t % 3));
    return done;
}

static void run_tasks(const struct bench* bench, const char* name, int size, int64_t each, double seconds) {
    const int groups = (bench->ranks + size - 1) / size, own_group = bench->rank / size;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, bench->rank, 0, win);
    *counter = 0;
    MPI_Win_unlock(bench->rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    const double begin = host_time();
    int64_t done = 0, all = 0;
    for (int i = 0; i < groups; ++i) {
        const int g = (own_group + i) % groups;
        const int members = g == groups - 1 ? bench->ranks - g * size : size;
        done += run_group(g * size, each * members, i == 0 ? 1 : 4, seconds);
    }
    const double took = elapsed_over_ranks(begin, host_time());
    MPI_Win_unlock_all(win);
    MPI_Reduce(&done, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (bench->rank != 0) return;
    if (all != each * bench->ranks) fail("a task was lost, or done twice");
    report(name, 8, 1e-3 * (double)all / took, "k/s");
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    const int64_t each = (int64_t)number_option(argc, argv, "tasks", 2000);
    const double seconds = number_option(argc, argv, "micro", 2e-6);
    const int size = (int)number_option(argc, argv, "group", 2);
    MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &win);
    run_tasks(&bench, "tasks", size < 1 ? 1 : size, each, seconds);
    run_tasks(&bench, "tasks_flat", bench.ranks, each, seconds);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
