// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks but 0 take the lock of rank 0's window again and again for a while, exclusively, or mostly
// shared, and count up a word under it. Rank 0 computes and helps nobody. Counting begins when all have had
// the lock once, and ends for all at the same moment: who comes late or early has it for itself. Results:
// locks_WAY, of all ranks together, thousands per second; fair_WAY: grants of the luckiest rank for one of
// the unluckiest. Options: seconds= of each.
#include "bench.h"

#include <stdint.h>

enum { count, ready, end, words }; // end: in nanoseconds, 0 before all are ready
static MPI_Win win;
static int64_t* memory;

static int64_t now(void) { return (int64_t)(1e9 * host_time()); }

struct grants {
    long all, written; // all: since everybody was ready
};

// One grant; returns 0 at the end.
static int take(int shared, int first, int contenders, double seconds, struct grants* mine) {
    int64_t seen[words];
    MPI_Win_lock(shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(seen, words, MPI_INT64_T, 0, 0, words, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    const int64_t until = seen[end];
    if (!shared) {
        ++seen[count];
        ++mine->written;
        seen[ready] += first;
        if (until == 0 && seen[ready] == contenders) seen[end] = now() + (int64_t)(1e9 * seconds);
        MPI_Put(seen, words, MPI_INT64_T, 0, 0, words, MPI_INT64_T, win);
    }
    MPI_Win_unlock(0, win);
    mine->all += until != 0;
    return until == 0 || now() < until;
}

static struct grants contend(const struct bench* bench, double seconds, int every_shared) {
    struct grants mine = {0, 0};
    for (long i = 0;
         take(every_shared != 0 && i % every_shared != 0, i == 0, bench->ranks - 1, seconds, &mine);)
        ++i;
    return mine;
}

static void clear(void) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    memset(memory, 0, words * sizeof *memory);
    MPI_Win_unlock(0, win);
}

static void run(const struct bench* bench, const char* way, double seconds, int every_shared) {
    char name[32];
    struct grants mine = {0, 0};
    if (bench->rank == 0) clear();
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench->rank == 0)
        compute(seconds);
    else
        mine = contend(bench, seconds, every_shared);
    const long limits[2] = {bench->rank == 0 ? -1000000000 : -mine.all, mine.all};
    const long sums[2] = {mine.all, mine.written};
    long all[2] = {0, 0}, extreme[2] = {0, 0};
    MPI_Reduce(sums, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(limits, extreme, 2, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (bench->rank != 0) return;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (memory[count] != all[1]) fail("a lock did not exclude");
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
    MPI_Win_allocate(bench.rank == 0 ? words * 8 : 0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    run(&bench, "exclusive", seconds, 0);
    run(&bench, "mixed", seconds, 8);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
