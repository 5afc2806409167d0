// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks exchange messages with a partner far from them in rank order: before and after the program asks for
// another placement by MPIX_Remap. Results, microseconds of an exchange by bytes: remap_before, remap_after;
// remap_call: the call itself. Run without --bind-to, or with more ranks than cores. An even number of ranks.
// Options: sizes=, seconds= of each measurement.
#define _GNU_SOURCE // sched_getaffinity
#include "bench.h"

#include <sched.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

static char *out, *in;

// Microseconds of an exchange, over at least `seconds`.
static double exchange(const struct bench* bench, int bytes, double seconds) {
    const int half = bench->ranks / 2, partner = (bench->rank + half) % bench->ranks;
    long count = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = host_time();
    for (int go_on = 1; go_on;) {
        for (int i = 0; i < 100; ++i, ++count)
            MPI_Sendrecv(out, bytes, MPI_BYTE, partner, 1, in, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        go_on = host_time() - begin < seconds;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return 1e6 * elapsed_over_ranks(begin, host_time()) / (double)count;
}

#ifdef ZIPMPI_HAVE_REMAP
// Whether the CPUs of a rank differ from `old`, which is updated.
static int moved(cpu_set_t* old) {
    cpu_set_t now;
    CPU_ZERO(&now);
    sched_getaffinity(0, sizeof now, &now);
    int any = !CPU_EQUAL(old, &now);
    *old = now;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

// MPIX_Remap does not wait for the new placement: returns when ranks have moved and then, in one step, none
// does. With the best placement from the beginning no rank moves: a limit ends the wait.
static void await_placement(const struct bench* bench, cpu_set_t* old) {
    enum { steps = 100 };
    const double step = 0.02;
    int changed = 0;
    for (int i = 0; i < steps; ++i) {
        exchange(bench, 8, step);
        const int now = moved(old);
        if (changed && !now) return;
        changed |= now;
    }
}
#endif

// Asks for another placement, and returns the seconds of the call.
static double remap(const struct bench* bench) {
#ifdef ZIPMPI_HAVE_REMAP
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    moved(&cpus);
    const double begin = host_time();
    MPIX_Remap(MPI_COMM_WORLD);
    const double called = elapsed_over_ranks(begin, host_time());
    await_placement(bench, &cpus);
    return called;
#else
    (void)bench;
    return 0;
#endif
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    const double seconds = number_option(argc, argv, "seconds", 0.5);
    size_t sizes[max_points];
    const int points = message_sizes(argc, argv, sizes, max_points);
    require_ranks(&bench, 2);
    if (bench.ranks % 2 != 0) fail("the number of ranks is odd");
    out = touched_memory(largest_message);
    in = touched_memory(largest_message);
    double before[max_points];
    for (int i = 0; i < points; ++i) before[i] = exchange(&bench, (int)sizes[i], seconds);
    const double called = remap(&bench);
    for (int i = 0; i < points; ++i) {
        const double after = exchange(&bench, (int)sizes[i], seconds);
        if (bench.rank != 0) continue;
        report("remap_before", sizes[i], before[i], "us");
        report("remap_after", sizes[i], after, "us");
    }
    if (bench.rank == 0) report("remap_call", 0, 1e6 * called, "us");
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
