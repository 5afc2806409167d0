// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random access: every rank updates random 64-bit words of a table distributed over all ranks, by four
// methods:
//   get_modify_put  fetches a word, changes it, puts it back (concurrent updates may be lost: not exact)
//   accumulate      MPI_Accumulate with MPI_BXOR, completed by a flush each
//   fetch_and_op    MPI_Fetch_and_op with MPI_BXOR, completed by a flush each
//   aggregated      MPI_Accumulate, completed by one flush at the end
// Results: updates_METHOD, of all ranks together, in millions per second. Options: words= of each rank,
// updates= of each rank.
#include "bench.h"

#include <stdint.h>

enum method { get_modify_put, accumulate, fetch_and_op, aggregated, method_count };
static const char* const method_names[] = {"updates_get_modify_put", "updates_accumulate",
                                           "updates_fetch_and_op", "updates_aggregated"};

static uint64_t next_random(uint64_t* state) { // xorshift
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void update(enum method method, int target, MPI_Aint word, uint64_t value, MPI_Win win) {
    uint64_t found = 0;
    switch (method) {
    case get_modify_put:
        MPI_Get(&found, 1, MPI_UINT64_T, target, word, 1, MPI_UINT64_T, win);
        MPI_Win_flush(target, win);
        found ^= value;
        MPI_Put(&found, 1, MPI_UINT64_T, target, word, 1, MPI_UINT64_T, win);
        MPI_Win_flush(target, win);
        break;
    case fetch_and_op:
        MPI_Fetch_and_op(&value, &found, MPI_UINT64_T, target, word, MPI_BXOR, win);
        MPI_Win_flush(target, win);
        break;
    default:
        MPI_Accumulate(&value, 1, MPI_UINT64_T, target, word, 1, MPI_UINT64_T, MPI_BXOR, win);
        if (method == accumulate) MPI_Win_flush(target, win);
    }
}

static double run(const struct bench* bench, enum method method, long words, long updates, MPI_Win win) {
    uint64_t state = 88172645463325252ULL + 1000003ULL * (uint64_t)bench->rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    const double begin = host_time();
    for (long i = 0; i < updates; ++i) {
        const uint64_t value = next_random(&state);
        const uint64_t table_index = value % ((uint64_t)words * (uint64_t)bench->ranks);
        update(method, (int)(table_index / (uint64_t)words), (MPI_Aint)(table_index % (uint64_t)words), value,
               win);
    }
    MPI_Win_flush_all(win);
    const double end = host_time();
    MPI_Win_unlock_all(win);
    return elapsed_over_ranks(begin, end);
}

// Every value is applied twice, so that BXOR restores zero.
static void check_table(const uint64_t* table, long words) {
    for (long i = 0; i < words; ++i)
        if (table[i] != 0) fail("an update was lost");
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    const long words = (long)number_option(argc, argv, "words", 1 << 16);
    const long updates = (long)number_option(argc, argv, "updates", 1000);
    uint64_t* table = NULL;
    MPI_Win win;
    MPI_Win_allocate(words * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &table, &win);
    for (enum method method = get_modify_put; method < method_count; ++method) {
        const long so_many = method == aggregated ? 10 * updates : updates;
        MPI_Win_fence(0, win);
        for (long i = 0; i < words; ++i) table[i] = 0;
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        const double first = run(&bench, method, words, so_many, win);
        const double second = run(&bench, method, words, so_many, win);
        MPI_Win_fence(0, win);
        if (method != get_modify_put) check_table(table, words);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        const double best = first < second ? first : second;
        if (bench.rank == 0)
            report(method_names[method], 8, 1e-6 * (double)so_many * bench.ranks / best, "M/s");
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
