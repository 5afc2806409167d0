// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A ring with computing: in each step every rank locks the window of the next one, puts data and the number
// of the step, unlocks, computes outside MPI, and waits until the number has come to its own window. Who
// needs the help of a target that computes waits for it, and makes the next one wait. Result: ring_beyond, us
// of a step beyond its computing, by microseconds of computing. Options: sizes= of computing, bytes= of data.
#include "bench.h"

#include <stdint.h>

enum { most_bytes = 1 << 16 };
static MPI_Win win;
static int64_t* memory; // number of the step, then the data
static char out[most_bytes];
static int bytes;
static int64_t step_number;

static int64_t arrived(int rank) {
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    const int64_t seen = *(volatile int64_t*)memory;
    MPI_Win_unlock(rank, win);
    return seen;
}

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    const int next = (bench->rank + 1) % bench->ranks;
    (void)stamp;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = host_time();
    for (long i = 0; i < iterations; ++i) {
        ++step_number;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
        MPI_Put(out, bytes, MPI_BYTE, next, sizeof step_number, bytes, MPI_BYTE, win);
        MPI_Put(&step_number, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, win);
        MPI_Win_unlock(next, win);
        compute(1e-6 * (double)point->size);
        while (arrived(bench->rank) < step_number) {
        }
    }
    return from_first_to_last(begin, host_time());
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    bytes = (int)number_option(argc, argv, "bytes", 1024);
    if (bytes < 1 || bytes > most_bytes) fail("bytes= wants 1 to 65536");
    MPI_Win_allocate(most_bytes + 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, bench.rank, 0, win);
    *memory = 0;
    MPI_Win_unlock(bench.rank, win);
    add_sizes(&bench, "ring_beyond", argc, argv);
    measure(&bench, batch);
    for (int i = 0; i < bench.points && bench.rank == 0; ++i) {
        const double beyond = 1e6 * bench.point[i].per_iteration[0] - (double)bench.point[i].size;
        report("ring_beyond", bench.point[i].size, beyond > 0.01 ? beyond : 0.01, "us");
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
