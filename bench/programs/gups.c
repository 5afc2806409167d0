// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random access: every rank changes random 64-bit words of a table that is spread over all ranks, in four
// ways:
//   get_modify_put  fetches a word, changes it, puts it back (others may change it meanwhile: not exact)
//   accumulate      MPI_Accumulate with MPI_BXOR, completed by a flush each
//   fetch_and_op    MPI_Fetch_and_op with MPI_BXOR, completed by a flush each
//   aggregated      MPI_Accumulate, completed by one flush at the end
// Results: updates_<way>, of all ranks together, in millions per second. Options: words= of each rank,
// updates= of each rank.
#include "bench.h"

#include <stdint.h>

enum way { get_modify_put, accumulate, fetch_and_op, aggregated, ways };
static const char* const way_names[] = {"updates_get_modify_put", "updates_accumulate",
                                        "updates_fetch_and_op", "updates_aggregated"};

static uint64_t next_random(uint64_t* state) { // xorshift
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void update(enum way way, int target, MPI_Aint word, uint64_t value, MPI_Win win) {
    uint64_t found = 0;
    switch (way) {
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
        if (way == accumulate) MPI_Win_flush(target, win);
    }
}

static double run(const struct bench* bench, enum way way, long words, long updates, MPI_Win win) {
    uint64_t state = 88172645463325252ULL + 1000003ULL * (uint64_t)bench->rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    const double begin = host_time();
    for (long i = 0; i < updates; ++i) {
        const uint64_t value = next_random(&state);
        const uint64_t place = value % ((uint64_t)words * (uint64_t)bench->ranks);
        update(way, (int)(place / (uint64_t)words), (MPI_Aint)(place % (uint64_t)words), value, win);
    }
    MPI_Win_flush_all(win);
    const double end = host_time();
    MPI_Win_unlock_all(win);
    return from_first_to_last(begin, end);
}

// Every value is added twice, and by BXOR gone again.
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
    for (enum way way = get_modify_put; way < ways; ++way) {
        const long so_many = way == aggregated ? 10 * updates : updates;
        MPI_Win_fence(0, win);
        for (long i = 0; i < words; ++i) table[i] = 0;
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        const double first = run(&bench, way, words, so_many, win);
        const double second = run(&bench, way, words, so_many, win);
        MPI_Win_fence(0, win);
        if (way != get_modify_put) check_table(table, words);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        const double best = first < second ? first : second;
        if (bench.rank == 0) report(way_names[way], 8, 1e-6 * (double)so_many * bench.ranks / best, "M/s");
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
