// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: large_job [calls [seconds [windows]]]
// A job of any size that measures itself: an allreduce, a message around a ring, timed barriers and
// allreduces of 8 bytes, and the memory of a window. Rank 0 prints one line of "name value" pairs. Then all
// ranks sleep for `seconds`.
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Sum of the values, in KiB, of the lines of a file in /proc that begin with one of these names.
static long sum_of(const char* path, const char* const* names) {
    FILE* file = fopen(path, "re");
    char line[256];
    long sum = 0;
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL)
        for (const char* const* name = names; *name != NULL; ++name)
            if (strncmp(line, *name, strlen(*name)) == 0) sum += atol(line + strlen(*name));
    fclose(file);
    return sum;
}

static long value_of(const char* path, const char* name) {
    const char* const names[] = {name, NULL};
    return sum_of(path, names);
}

static long private_kib(void) {
    static const char* const names[] = {"Private_Clean:", "Private_Dirty:", NULL};
    return sum_of("/proc/self/smaps_rollup", names);
}

static double mean(long value, int size) {
    long sum = 0;
    MPI_Reduce(&value, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    return (double)sum / size;
}

static void check(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "large_job: wrong result of %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double barrier_seconds(int calls) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < calls; ++i) MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) / (calls > 0 ? calls : 1);
}

static double allreduce_seconds(int calls, int size) {
    long one = 1;
    long sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < calls; ++i) {
        MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        check(sum == size, "MPI_Allreduce");
    }
    return (MPI_Wtime() - begin) / (calls > 0 ? calls : 1);
}

static void use_window(MPI_Win* win, int rank, int size) {
    const long own = rank;
    long* memory = NULL;
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&memory, win);
    MPI_Win_fence(0, *win);
    MPI_Put(&own, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, *win);
    MPI_Win_fence(0, *win);
    check(*memory == (rank + size - 1) % size, "MPI_Put");
}

static long allocated_bytes(void) {
    const struct mallinfo2 in_use = mallinfo2();
    return (long)(in_use.uordblks + in_use.hblkhd);
}

// Memory of a rank per window from malloc, without what the first window needs once.
static double window_kib(int windows, int rank, int size) {
    enum { max_windows = 16 };
    static MPI_Win made[max_windows];
    long before = 0;
    if (windows > max_windows) windows = max_windows;
    for (int i = 0; i < windows; ++i) {
        use_window(&made[i], rank, size);
        if (i == 0) before = allocated_bytes();
    }
    const double each = windows > 1 ? mean(allocated_bytes() - before, size) / 1024 / (windows - 1) : 0;
    for (int i = 0; i < windows; ++i) MPI_Win_free(&made[i]);
    return each;
}

int main(int argc, char** argv) {
    const int calls = argc > 1 ? atoi(argv[1]) : 10;
    const unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    const int windows = argc > 3 ? atoi(argv[3]) : 0;
    int rank = 0;
    int size = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    long sum = rank;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    check(sum == (long)size * (size - 1) / 2, "MPI_Allreduce");

    long from = -1;
    const long own = rank;
    const int left = (rank + size - 1) % size;
    MPI_Sendrecv(&own, 1, MPI_LONG, (rank + 1) % size, 0, &from, 1, MPI_LONG, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(from == left, "MPI_Sendrecv");

    const double barrier = barrier_seconds(calls);

    const double memory = mean(private_kib(), size);
    const double pss = mean(value_of("/proc/self/smaps_rollup", "Pss:"), size);
    const double page_tables = mean(value_of("/proc/self/status", "VmPTE:"), size);
    const double descriptors = mean(value_of("/proc/self/status", "FDSize:"), size);
    const double switches = mean(value_of("/proc/self/status", "voluntary_ctxt_switches:") +
                                     value_of("/proc/self/status", "nonvoluntary_ctxt_switches:"),
                                 size);
    const double allreduce = allreduce_seconds(calls, size);
    const long available = value_of("/proc/meminfo", "MemAvailable:");
    const double window = window_kib(windows, rank, size);
    if (rank == 0) {
        printf("ranks %d barrier_ms %.3f allreduce_ms %.3f private_kib %.1f pss_kib %.1f page_tables_kib "
               "%.1f descriptors %.1f "
               "switches %.1f available_kib %ld window_kib %.1f\n",
               size, barrier * 1e3, allreduce * 1e3, memory, pss, page_tables, descriptors, switches,
               available, window);
        fflush(stdout);
    }
    if (seconds != 0) sleep(seconds);
    MPI_Finalize();
    return 0;
}
