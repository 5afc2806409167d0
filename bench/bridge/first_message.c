// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The first message between two ranks. Ranks of the first half exchange messages with those of the second,
// one pair at a time: `first_message` is half of the first round trip of a pair, `next_message` half of a
// later one, us, both the median over pairs. `again_message` is half of the first round trip after all pairs
// have communicated: it includes the cost of leaving a barrier, which the first message also has.
#include "../programs/sample.h"
#include <mpi.h>

enum { max_pairs = 4096, repeats = 50 };

static double round_trip(int rank, int low, int high, char* memory, int bytes) {
    const double begin = MPI_Wtime();
    if (rank == low) {
        MPI_Send(memory, bytes, MPI_BYTE, high, 1, MPI_COMM_WORLD);
        MPI_Recv(memory, bytes, MPI_BYTE, high, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(memory, bytes, MPI_BYTE, low, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(memory, bytes, MPI_BYTE, low, 1, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - begin;
}

static double median_of_all(double* local, int count, int rank, int half) {
    double* const all = malloc(sizeof(double) * max_pairs);
    int* const counts = calloc((size_t)half * 2, sizeof(int));
    int* const displs = calloc((size_t)half * 2, sizeof(int));
    for (int i = 0; i < half; ++i) {
        counts[i] = half;
        displs[i] = i * half;
    }
    MPI_Gatherv(local, count, MPI_DOUBLE, all, counts, displs, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    const double m = rank == 0 ? median(all, half * half) : 0;
    free(all);
    free(counts);
    free(displs);
    return m;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int half = ranks / 2, bytes = (int)number_option(argc, argv, "bytes", 8);
    char* const memory = touched_memory((size_t)bytes);
    double first[max_pairs], again[max_pairs], next[max_pairs];
    int local_pairs = 0;
    for (int pass = 0; pass < 2; ++pass) {
        local_pairs = 0;
        for (int low = 0; low < half && half * half <= max_pairs; ++low)
            for (int high = half; high < 2 * half; ++high) {
                MPI_Barrier(MPI_COMM_WORLD);
                if (rank != low && rank != high) continue;
                double some[repeats];
                const double once = round_trip(rank, low, high, memory, bytes);
                for (int i = 0; i < repeats; ++i) some[i] = round_trip(rank, low, high, memory, bytes);
                if (rank != low) continue;
                (pass == 0 ? first : again)[local_pairs] = once / 2 * 1e6;
                next[local_pairs++] = median(some, repeats) / 2 * 1e6;
            }
    }
    const double of_first = median_of_all(first, local_pairs, rank, half),
                 of_again = median_of_all(again, local_pairs, rank, half),
                 of_next = median_of_all(next, local_pairs, rank, half);
    if (rank == 0) report("first_message", (size_t)bytes, of_first, "us");
    if (rank == 0) report("again_message", (size_t)bytes, of_again, "us");
    if (rank == 0) report("next_message", (size_t)bytes, of_next, "us");
    free(memory);
    MPI_Finalize();
    return 0;
}
