/* SPDX-FileCopyrightText: 2026 the ZipMPI authors */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sequenced MESSAGES [LONGEST [SECONDS [FILE]]]: each rank of the first half exchanges messages with its
 * partner in the second half, in both directions at once. Every message has a number; its length follows
 * from the number, its bytes from both. A lost, duplicated, reordered or damaged message ends the program
 * with status 1. Runs for at least SECONDS, and until FILE exists. Rank 0 prints the number of messages and
 * the longest gaps between two of them, in milliseconds.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { window = 16, gaps = 256 };

static uint64_t mix_bits(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 33;
}

/* One in a hundred has any length, the others are short. */
static size_t length_of(uint64_t number, size_t longest) {
    const uint64_t random = mix_bits(number + 1);
    const size_t most = random % 100 == 0 ? longest : random % 10 == 0 ? 16384 : 200;
    return 8 + (random >> 8) % (most < longest ? most : longest);
}

static void fill(unsigned char* to, uint64_t number, size_t length) {
    memcpy(to, &number, 8);
    uint64_t word = mix_bits(number);
    for (size_t i = 8; i < length; ++i)
        to[i] = (unsigned char)(word >> (i % 8 * 8)) ^ (unsigned char)(i * 131 >> 3);
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void record_pause(double* longest, double ms) {
    if (ms <= longest[gaps - 1]) return;
    longest[gaps - 1] = ms;
    qsort(longest, gaps, sizeof *longest, compare);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const uint64_t messages = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    const size_t longest = argc > 2 ? strtoull(argv[2], NULL, 10) : 1 << 20;
    const double seconds = argc > 3 ? atof(argv[3]) : 0;
    const char* file = argc > 4 ? argv[4] : NULL;
    const int partner = (rank + size / 2) % size;
    unsigned char* out[window];
    MPI_Request sends[window];
    for (int i = 0; i < window; ++i) {
        out[i] = malloc(longest + 8);
        sends[i] = MPI_REQUEST_NULL;
    }
    unsigned char* in = malloc(longest + 8);
    unsigned char* wanted = malloc(longest + 8);
    double longest_gaps[gaps] = {0};
    const double begin = MPI_Wtime();
    double last = begin;
    uint64_t number = 0;
    for (int more = 1; more; ++number) {
        const int slot = (int)(number % window);
        MPI_Wait(&sends[slot], MPI_STATUS_IGNORE);
        /* The lower rank decides when to stop, and signals it by the tag. */
        int last_one = number + 1 >= messages && MPI_Wtime() - begin >= seconds &&
                       (file == NULL || access(file, F_OK) == 0);
        const size_t length = length_of(number, longest);
        fill(out[slot], number, length);
        MPI_Isend(out[slot], (int)length, MPI_BYTE, partner, rank < partner && last_one, MPI_COMM_WORLD,
                  &sends[slot]);
        MPI_Status status;
        MPI_Recv(in, (int)longest + 8, MPI_BYTE, partner, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        const double now = MPI_Wtime();
        record_pause(longest_gaps, (now - last) * 1e3);
        last = now;
        int came;
        MPI_Get_count(&status, MPI_BYTE, &came);
        fill(wanted, number, length);
        if ((size_t)came != length || memcmp(in, wanted, length) != 0) {
            uint64_t got;
            memcpy(&got, in, 8);
            fprintf(stderr, "rank %d: message %llu is wrong: number %llu, %d bytes instead of %zu\n", rank,
                    (unsigned long long)number, (unsigned long long)got, came, length);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        more = rank < partner ? !last_one : status.MPI_TAG == 0;
    }
    MPI_Waitall(window, sends, MPI_STATUSES_IGNORE);
    unsigned long long mine = number, all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("messages %llu seconds %.1f gaps", all, MPI_Wtime() - begin);
        for (int i = 0; i < gaps && (i == 0 || longest_gaps[i] > 5); ++i) printf(" %.1f", longest_gaps[i]);
        printf("\n");
    }
    MPI_Finalize();
    return 0;
}
