// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Distributes tasks of different lengths. Each group of ranks has a counter of its tasks at its first rank; a
// rank that finds it exhausted takes chunks from the counters of other groups. All by MPI_Fetch_and_op, while
// the owners of the counters compute like the others. Results: tasks, thousands per second of all ranks
// together; tasks_flat: with one counter for all. Hierarchical sharing: the first rank of each group locks,
// puts and unlocks at each other rank of its group (sharing_near), at the first ranks of the other groups
// (sharing_far), and at its group again (sharing_near_again); sharing: all; microseconds of one lock, put and
// unlock. Options: tasks= of each rank, micro= seconds of a task, group= ranks, puts= to each rank.
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
    const double end = host_time();
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD); // others still use the counter of this rank
    const double took = elapsed_over_ranks(begin, end);
    MPI_Reduce(&done, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (bench->rank != 0) return;
    if (all != each * bench->ranks) fail("a task was lost, or done twice");
    report(name, 8, 1e-3 * (double)all / took, "k/s");
}

// Locks, puts and unlocks at every target; returns the number of puts. Each origin has its own word.
static long share_with(const struct bench* bench, const int* targets, int count, long puts, double* seconds) {
    const double begin = host_time();
    for (int t = 0; t < count; ++t)
        for (int64_t value = 1; value <= puts; ++value) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, targets[t], 0, win);
            MPI_Put(&value, 1, MPI_INT64_T, targets[t], 1 + bench->rank, 1, MPI_INT64_T, win);
            MPI_Win_unlock(targets[t], win);
        }
    *seconds = elapsed_over_ranks(count ? begin : 1e300, count ? host_time() : 0);
    return count * puts;
}

static void report_sharing(const struct bench* bench, const char* name, double seconds, long puts) {
    long most = 0; // of a leader
    MPI_Reduce(&puts, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (bench->rank == 0 && most > 0) report(name, 8, 1e6 * seconds / (double)most, "us");
}

static void share(const struct bench* bench, int size, long puts) {
    static const char* const names[] = {"sharing_near", "sharing_far", "sharing_near_again"};
    const int leader = bench->rank / size * size, leads = bench->rank == leader;
    int* const targets = malloc(sizeof *targets * (size_t)bench->ranks);
    double all_seconds = 0;
    long all_puts = 0;
    for (int phase = 0; phase < 3; ++phase) {
        int count = 0;
        for (int r = 0; r < bench->ranks && leads; ++r)
            if (r != leader && (phase == 1 ? r % size == 0 : r / size * size == leader)) targets[count++] = r;
        double seconds = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        const long done = share_with(bench, targets, count, puts, &seconds);
        report_sharing(bench, names[phase], seconds, done);
        if (seconds > 0) all_seconds += seconds;
        all_puts += done;
    }
    report_sharing(bench, "sharing", all_seconds, all_puts);
    free(targets);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, bench->rank, 0, win);
    for (int r = 0; r < bench->ranks; r += size) {
        const int near = r == leader && bench->rank != leader, far = leads && r != leader;
        if (counter[1 + r] != (near || far ? puts : 0)) fail("a put is missing");
    }
    MPI_Win_unlock(bench->rank, win);
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    const int64_t each = (int64_t)number_option(argc, argv, "tasks", 2000);
    const double seconds = number_option(argc, argv, "micro", 2e-6);
    const int size = (int)number_option(argc, argv, "group", 2);
    const size_t words = 1 + (size_t)bench.ranks; // the counter, then a word for each origin
    MPI_Win_allocate((MPI_Aint)(words * sizeof *counter), sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &counter, &win);
    memset(counter, 0, words * sizeof *counter);
    MPI_Barrier(MPI_COMM_WORLD);
    run_tasks(&bench, "tasks", size < 1 ? 1 : size, each, seconds);
    run_tasks(&bench, "tasks_flat", bench.ranks, each, seconds);
    share(&bench, size < 1 ? 1 : size, (long)number_option(argc, argv, "puts", 1000));
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
