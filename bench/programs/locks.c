// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks but 0 repeatedly take the lock of rank 0's window for a while, exclusively, or mostly shared, and
// increment a word under it. Rank 0 computes outside MPI. Counting begins when all have had the lock once,
// and ends for all at one time, because early and late ranks would have the lock without contention. Results:
// locks_METHOD, of all ranks together, thousands per second; fair_METHOD: most grants of a rank per fewest.
// Options: seconds= of each.
#include "bench.h"

#include <stdint.h>

enum { count, ready, end, words }; // end: time in nanoseconds, 0 before all are ready
static MPI_Win win;
static int64_t* memory;

static int64_t now(void) { return (int64_t)(1e9 * host_time()); }

struct grants {
    long all, written; // all: since all ranks were ready
};

// One grant; returns 0 when the time is over.
static int acquire_once(int shared, int first, int contenders, double seconds, struct grants* local) {
    int64_t seen[words];
    MPI_Win_lock(shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(seen, words, MPI_INT64_T, 0, 0, words, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    const int64_t until = seen[end];
    if (!shared) {
        ++seen[count];
        ++local->written;
        seen[ready] += first;
        if (until == 0 && seen[ready] == contenders) seen[end] = now() + (int64_t)(1e9 * seconds);
        MPI_Put(seen, words, MPI_INT64_T, 0, 0, words, MPI_INT64_T, win);
    }
    MPI_Win_unlock(0, win);
    local->all += until != 0;
    return until == 0 || now() < until;
}

static struct grants contend(const struct bench* bench, double seconds, int every_shared) {
    struct grants local = {0, 0};
    for (long i = 0;
         acquire_once(every_shared != 0 && i % every_shared != 0, i == 0, bench->ranks - 1, seconds, &local);)
        ++i;
    return local;
}

static void clear(void) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    memset(memory, 0, words * sizeof *memory);
    MPI_Win_unlock(0, win);
}

static void run(const struct bench* bench, const char* mode, double seconds, int every_shared) {
    char name[32];
    struct grants local = {0, 0};
    if (bench->rank == 0) clear();
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench->rank == 0)
        compute(seconds);
    else
        local = contend(bench, seconds, every_shared);
    const long limits[2] = {bench->rank == 0 ? -1000000000 : -local.all, local.all};
    const long sums[2] = {local.all, local.written};
    long all[2] = {0, 0}, extreme[2] = {0, 0};
    MPI_Reduce(sums, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(limits, extreme, 2, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (bench->rank != 0) return;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (memory[count] != all[1]) fail("a lock did not exclude");
    MPI_Win_unlock(0, win);
    snprintf(name, sizeof name, "locks_%s", mode);
    report(name, 8, 1e-3 * (double)all[0] / seconds, "k/s");
    snprintf(name, sizeof name, "fair_%s", mode);
    report(name, 8, (double)extreme[1] / (double)(extreme[0] < 0 ? -extreme[0] : 1), "x");
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    const double seconds = number_option(argc, argv, "seconds", 0.5);
    require_ranks(&bench, 2);
    MPI_Win_allocate(bench.rank == 0 ? words * 8 : 0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    run(&bench, "exclusive", seconds, 0);
    run(&bench, "mixed", seconds, 8);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
