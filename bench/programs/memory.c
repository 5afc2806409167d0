// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory per rank in KiB: the proportional set size of all ranks divided by their number, after MPI_Init
// (memory_start), after an exchange with the two neighbors in a ring (memory_ring), and after an all-to-all
// of 1 KiB per pair (memory_alltoall; without the buffers of this program). until=ring leaves the all-to-all
// out.
#include "bench.h"

enum { block = 1024 };

static double process_kib(void) {
    FILE* file = fopen("/proc/self/smaps_rollup", "r");
    if (!file) fail("cannot read /proc/self/smaps_rollup");
    char line[256];
    double kib = -1;
    while (kib < 0 && fgets(line, sizeof line, file)) sscanf(line, "Pss: %lf", &kib);
    fclose(file);
    if (kib < 0) fail("no Pss in /proc/self/smaps_rollup");
    return kib;
}

static void report_memory(const struct bench* bench, const char* name, size_t size, double own_buffers) {
    MPI_Barrier(MPI_COMM_WORLD); // all ranks have reached this point
    const double local = process_kib() - own_buffers / 1024;
    MPI_Barrier(MPI_COMM_WORLD); // no rank has continued
    double sum = 0;
    MPI_Reduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (bench->rank == 0) report(name, size, sum / bench->ranks, "KiB");
}

static void ring(const struct bench* bench) {
    char out[block] = {(char)bench->rank}, in[block];
    const int next = (bench->rank + 1) % bench->ranks,
              before = (bench->rank + bench->ranks - 1) % bench->ranks;
    MPI_Sendrecv(out, block, MPI_BYTE, next, 1, in, block, MPI_BYTE, before, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (in[0] != (char)before) fail("wrong data in the ring");
    MPI_Sendrecv(out, block, MPI_BYTE, before, 1, in, block, MPI_BYTE, next, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (in[0] != (char)next) fail("wrong data in the ring");
}

static void all_to_all(const struct bench* bench) {
    const size_t bytes = (size_t)bench->ranks * block;
    char *out = touched_memory(bytes), *in = touched_memory(bytes);
    for (int i = 0; i < bench->ranks; ++i) mark(out + (size_t)i * block, block, (char)(bench->rank + i));
    MPI_Alltoall(out, block, MPI_BYTE, in, block, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < bench->ranks; ++i) check(in + (size_t)i * block, block, (char)(bench->rank + i));
    report_memory(bench, "memory_alltoall", block, 2 * (double)bytes);
    free(out);
    free(in);
}

int main(int argc, char** argv) {
    const struct bench bench = begin_bench(&argc, &argv);
    report_memory(&bench, "memory_start", 0, 0);
    ring(&bench);
    report_memory(&bench, "memory_ring", block, 0);
    if (strcmp(text_option(argc, argv, "until", ""), "ring")) all_to_all(&bench);
    MPI_Finalize();
    return 0;
}
