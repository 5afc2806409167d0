// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A producer that computes 1 us per message and sends 64 of them without waiting, and a consumer that
// receives each and computes for c2. Timed is the producer until all of its sends are complete: skew_1 and
// skew_1000 are the medians for c2 = 1 us and 1000 us; skew_first_1000 is the first time after the consumer
// became slow, before a library can have adapted. Options: windows= repetitions, slow= the longer c2 in
// microseconds, sizes=.
#include "bench.h"

enum { messages = 64 };

static char* buffers;

static double produce(size_t size, char stamp) {
    MPI_Request requests[messages];
    const double begin = MPI_Wtime();
    for (int i = 0; i < messages; ++i) {
        compute(1e-6);
        mark(buffers + (size_t)i * size, size, (char)(stamp + i));
        MPI_Isend(buffers + (size_t)i * size, (int)size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
    return MPI_Wtime() - begin;
}

static void consume(size_t size, double c2, char stamp) {
    for (int i = 0; i < messages; ++i) {
        MPI_Recv(buffers, (int)size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(buffers, size, (char)(stamp + i));
        compute(c2);
    }
}

static void one_size(const struct bench* bench, size_t size, double c2, const char* name,
                     const char* first_name, int windows) {
    double times[max_sweeps];
    for (int n = 0; n < windows; ++n) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (bench->rank == 0)
            times[n] = produce(size, (char)n) * 1e6;
        else
            consume(size, c2, (char)n);
    }
    if (bench->rank) return;
    if (first_name) report(first_name, size, times[0], "us");
    report(name, size, median(times, windows), "us");
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    if (bench.ranks != 2) fail("skew is measured between two ranks");
    int windows = (int)number_option(argc, argv, "windows", 5);
    windows = windows < 1 ? 1 : windows > max_sweeps ? max_sweeps : windows;
    const double slow = number_option(argc, argv, "slow", 1000) * 1e-6;
    size_t sizes[max_points];
    const int count = message_sizes(argc, argv, sizes, max_points);
    for (int i = 0; i < count; ++i) {
        buffers = touched_memory(messages * sizes[i]);
        one_size(&bench, sizes[i], 1e-6, "skew_1", NULL, max_sweeps / 2);
        one_size(&bench, sizes[i], slow, "skew_1000", "skew_first_1000", windows);
        free(buffers);
    }
    MPI_Finalize();
    return 0;
}
