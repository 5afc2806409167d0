// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A ring with computation: in each step every rank locks the window of the next one, puts data, unlocks, puts
// the number of the step into a second window, computes outside MPI, and waits until the number has arrived
// in its own. An origin that depends on a computing target waits for it, and delays its own successor.
// Result: ring_beyond, us of a step in addition to its computation, by microseconds of computation. Options:
// sizes= of computation, bytes= of data.
#include "bench.h"

#include <stdint.h>

enum { max_bytes = 1 << 16 };
static MPI_Win data, numbers; // numbers: locked permanently by all ranks, so that waiting blocks no lock
static char* memory;
static int64_t* number;
static char out[max_bytes];
static int bytes;
static int64_t step_number;

static void wait_for_number(void) {
    for (int there = 0; *(volatile int64_t*)number < step_number; MPI_Win_sync(numbers))
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there,
                   MPI_STATUS_IGNORE); // some libraries need it for progress
}

static void put_to(int next) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, data);
    MPI_Put(out, bytes, MPI_BYTE, next, 0, bytes, MPI_BYTE, data);
    MPI_Win_unlock(next, data);
    MPI_Put(&step_number, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, numbers);
    MPI_Win_flush(next, numbers);
}

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    mark(out, (size_t)bytes, stamp);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = host_time();
    for (long i = 0; i < iterations; ++i) {
        ++step_number;
        if (bench->rank % 2 == 0) compute(1e-6 * (double)point->size);
        put_to((bench->rank + 1) % bench->ranks);
        if (bench->rank % 2 == 1) compute(1e-6 * (double)point->size);
        wait_for_number();
    }
    const double end = host_time();
    MPI_Win_lock(MPI_LOCK_SHARED, bench->rank, 0, data);
    check(memory, (size_t)bytes, stamp);
    MPI_Win_unlock(bench->rank, data);
    return elapsed_over_ranks(begin, end);
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    bytes = (int)number_option(argc, argv, "bytes", 1024);
    if (bytes < 1 || bytes > max_bytes) fail("bytes= must be 1 to 65536");
    MPI_Win_allocate(max_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &data);
    MPI_Win_allocate(sizeof *number, sizeof *number, MPI_INFO_NULL, MPI_COMM_WORLD, &number, &numbers);
    MPI_Win_lock_all(0, numbers);
    *number = 0;
    MPI_Win_sync(numbers);
    MPI_Barrier(MPI_COMM_WORLD);
    add_sizes(&bench, "ring_beyond", argc, argv);
    measure(&bench, batch);
    for (int i = 0; i < bench.points && bench.rank == 0; ++i) {
        const double beyond = 1e6 * bench.point[i].per_iteration[0] - (double)bench.point[i].size;
        report("ring_beyond", bench.point[i].size, beyond > 0.01 ? beyond : 0.01, "us");
    }
    MPI_Win_unlock_all(numbers);
    MPI_Win_free(&numbers);
    MPI_Win_free(&data);
    MPI_Finalize();
    return 0;
}
