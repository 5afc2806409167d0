// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cost of a fence: alone, with one put of each rank, and with puts to eight others, 16 bytes each.
// Results: fence_alone, fence_1, fence_8, us of an epoch.
#include "bench.h"

enum { bytes = 16, max_puts = 8 };
static MPI_Win win;
static char* memory;
static int put_count;

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    char out[bytes];
    memset(out, stamp, sizeof out);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    const double begin = host_time();
    for (long i = 0; i < iterations; ++i) {
        for (int p = 0; p < put_count; ++p) // slot p belongs to rank - (p + 1)
            MPI_Put(out, bytes, MPI_BYTE, (bench->rank + p + 1) % bench->ranks, (MPI_Aint)p * bytes, bytes,
                    MPI_BYTE, win);
        MPI_Win_fence(0, win);
    }
    const double end = host_time();
    for (int p = 0; p < put_count; ++p) check(memory + (size_t)p * point->size, point->size, stamp);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    return elapsed_over_ranks(begin, end);
}

int main(int argc, char** argv) {
    static const char* const names[] = {"fence_alone", "fence_1", "fence_8"};
    static const int counts[] = {0, 1, max_puts};
    struct bench bench = begin_bench(&argc, &argv);
    MPI_Win_allocate(max_puts * bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int i = 0; i < 3; ++i) {
        put_count = counts[i];
        bench.points = 0;
        add_point(&bench, names[i], bytes);
        measure(&bench, batch);
        if (bench.rank == 0) report(names[i], bytes, 1e6 * bench.point[0].per_iteration[0], "us");
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
