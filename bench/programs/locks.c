// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks but 0 take the lock of rank 0's window again and again for a while, exclusively or in turn with
// shared ones, and count up a word under it. Rank 0 computes and helps nobody. Results: locks_WAY, of all
// ranks together, thousands per second; fair_WAY: grants of the luckiest rank for one of the unluckiest.
// Options: seconds= of each.
#include "bench.h"

#include <stdint.h>

static MPI_Win win;
static int64_t* words; // a counter

static long grants_within(double seconds, int every_shared) {
    long grants = 0;
    int64_t count = 0;
    for (const double end = host_time() + seconds; host_time() < end; ++grants) {
        const int shared = every_shared != 0 && grants % every_shared != 0;
        MPI_Win_lock(shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&count, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
        if (!shared) {
            MPI_Win_flush(0, win);
            ++count;
            MPI_Put(&count, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
        }
        MPI_Win_unlock(0, win);
    }
    return grants;
}

static void contend(const struct bench* bench, const char* way, double seconds, int every_shared) {
    char name[32];
    if (bench->rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        words[0] = 0;
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long mine = 0;
    if (bench->rank == 0)
        compute(seconds);
    else
        mine = grants_within(seconds, every_shared);
    const long written = every_shared == 0 ? mine : (mine + every_shared - 1) / every_shared;
    const long limits[2] = {bench->rank == 0 ? -1000000000 : -mine, mine};
    long sums[2] = {mine, written}, all[2] = {0, 0}, extreme[2] = {0, 0};
    MPI_Reduce(sums, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(limits, extreme, 2, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (bench->rank != 0) return;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (words[0] != all[1]) fail("a lock did not exclude");
    MPI_Win_unlock(0, win);
    snprintf(name, sizeof name, "locks_%s", way);
    report(name, 8, 1e-3 * (double)all[0] / seconds, "k/s");
    snprintf(name, sizeof name, "fair_%s", way);
    report(name, 8, (double)extreme[1] / (double)(extreme[0] < 0 ? -extreme[0] : 1), "x");
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    const double seconds = number_option(argc, argv, "seconds", 0.5);
    need_ranks(&bench, 2);
    MPI_Win_allocate(bench.rank == 0 ? 64 : 0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &words, &win);
    contend(&bench, "exclusive", seconds, 0);
    contend(&bench, "mixed", seconds, 8);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
