// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Order of operations: 16 puts and 16 gets of each rank, to and from the next one, then a flush. A library or
// a device that lets gets wait behind puts takes longer for puts first than for gets first, where both
// directions of the network are limited. Results: schedule_puts_first, schedule_gets_first,
// schedule_interleaved, us of all 32 operations and the flush, by bytes of each, up to 262144 (sizes=,
// ascending).
#include "bench.h"

enum { operations = 16, max_bytes = 1 << 18 };
enum order { puts_first, gets_first, interleaved };
static MPI_Win win;
static char* memory; // blocks to be read, then blocks to be written
static char* in;
static char* out;
static enum order order;

static void put(int next, int i, int bytes) {
    const MPI_Aint there = (MPI_Aint)(operations + i) * max_bytes;
    MPI_Put(out + (size_t)i * max_bytes, bytes, MPI_BYTE, next, there, bytes, MPI_BYTE, win);
}

static void get(int next, int i, int bytes) {
    MPI_Get(in + (size_t)i * max_bytes, bytes, MPI_BYTE, next, (MPI_Aint)i * max_bytes, bytes, MPI_BYTE, win);
}

static void epoch(int next, int bytes) {
    for (int i = 0; i < operations && order != gets_first; ++i) {
        put(next, i, bytes);
        if (order == interleaved) get(next, i, bytes);
    }
    for (int i = 0; i < operations && order != interleaved; ++i) get(next, i, bytes);
    for (int i = 0; i < operations && order == gets_first; ++i) put(next, i, bytes);
    MPI_Win_flush(next, win);
}

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    const int next = (bench->rank + 1) % bench->ranks;
    for (int i = 0; i < operations; ++i) {
        mark(memory + (size_t)i * max_bytes, point->size, stamp);
        mark(out + (size_t)i * max_bytes, point->size, stamp);
    }
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = host_time();
    for (long i = 0; i < iterations; ++i) epoch(next, (int)point->size);
    const double end = host_time();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    for (int i = 0; i < operations; ++i) {
        check(in + (size_t)i * max_bytes, point->size, stamp);
        check(memory + (size_t)(operations + i) * max_bytes, point->size, stamp);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return elapsed_over_ranks(begin, end);
}

int main(int argc, char** argv) {
    static const char* const names[] = {"schedule_puts_first", "schedule_gets_first", "schedule_interleaved"};
    struct bench bench = begin_bench(&argc, &argv);
    MPI_Win_allocate((MPI_Aint)2 * operations * max_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    in = calloc(operations, max_bytes);
    out = calloc(operations, max_bytes);
    if (!in || !out) fail("out of memory");
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 3; ++i) {
        order = (enum order)i;
        bench.points = 0;
        add_sizes(&bench, names[i], argc, argv);
        while (bench.points > 0 && bench.point[bench.points - 1].size > max_bytes) --bench.points;
        measure(&bench, batch);
        for (int p = 0; p < bench.points && bench.rank == 0; ++p)
            report(names[i], bench.point[p].size, 1e6 * bench.point[p].per_iteration[0], "us");
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
