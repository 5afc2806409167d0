// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Microseconds of one collective operation over message sizes: the buffer of a broadcast or of a reduction,
// the block per rank of an all-to-all or an allgather, the whole vector of a reduce-scatter. The root
// advances with each iteration; the time is from the start of the first rank to the end of the last one.
// Cases that need more than 256 MiB in all ranks together are left out. Options: only= a comma-separated list
// of names; see bench.h.
#include "bench.h"

enum { most_ranks = 1024 };
static const size_t most_memory = (size_t)256 << 20;

static double *out, *in;
static int rank, ranks, block_counts[most_ranks];

static double own_value(char stamp) { return stamp + (double)rank; }

static double sum_of_all(char stamp) { return ranks * (stamp + (ranks - 1) / 2.0); }

static void expect(int good) {
    if (!good) fail("wrong result of a collective operation");
}

// Values of a batch: only the ends of a vector are checked.
static void prepare(size_t count, char stamp) {
    if (count) out[0] = out[count - 1] = own_value(stamp);
}

static void barrier(size_t count, char stamp, int root) {
    (void)count, (void)stamp, (void)root;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(size_t count, char stamp, int root) {
    if (rank == root) in[0] = in[count - 1] = stamp + (double)root;
    MPI_Bcast(in, (int)count, MPI_DOUBLE, root, MPI_COMM_WORLD);
    expect(in[0] == stamp + (double)root && in[count - 1] == in[0]);
}

static void reduce(size_t count, char stamp, int root) {
    MPI_Reduce(out, in, (int)count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    expect(rank != root || (in[0] == sum_of_all(stamp) && in[count - 1] == in[0]));
}

static void allreduce(size_t count, char stamp, int root) {
    (void)root;
    MPI_Allreduce(out, in, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    expect(in[0] == sum_of_all(stamp) && in[count - 1] == in[0]);
}

static void allgather(size_t count, char stamp, int root) {
    (void)root;
    MPI_Allgather(out, (int)count, MPI_DOUBLE, in, (int)count, MPI_DOUBLE, MPI_COMM_WORLD);
    expect(in[0] == stamp && in[count * (size_t)ranks - 1] == stamp + ranks - 1.0);
}

static void alltoall(size_t count, char stamp, int root) {
    (void)root;
    const size_t all = count * (size_t)ranks;
    out[all - 1] = own_value(stamp);
    MPI_Alltoall(out, (int)count, MPI_DOUBLE, in, (int)count, MPI_DOUBLE, MPI_COMM_WORLD);
    expect((rank > 0 || in[0] == stamp) && (rank < ranks - 1 || in[all - 1] == stamp + ranks - 1.0));
}

static void reduce_scatter(size_t count, char stamp, int root) {
    (void)root;
    MPI_Reduce_scatter(out, in, block_counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    expect(rank > 0 || block_counts[0] == 0 || in[0] == sum_of_all(stamp));
    (void)count;
}

// All blocks of a pair are equal, and known to its two ranks only.
static void alltoallv(size_t count, char stamp, int root) {
    (void)root;
    static int counts[most_ranks], displs[most_ranks];
    const size_t all = count * (size_t)ranks;
    for (int i = 0; i < ranks; ++i) counts[i] = (int)count, displs[i] = i * (int)count;
    out[all - 1] = own_value(stamp);
    MPI_Alltoallv(out, counts, displs, MPI_DOUBLE, in, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD);
    expect((rank > 0 || in[0] == stamp) && (rank < ranks - 1 || in[all - 1] == stamp + ranks - 1.0));
}

static const struct {
    const char* name;
    void (*call)(size_t count, char stamp, int root);
    int blocks;  // a buffer has one block for each rank
    int on_call; // measured only if listed in only=
} operations[] = {{"coll_barrier", barrier, 0, 0},
                  {"coll_bcast", bcast, 0, 0},
                  {"coll_reduce", reduce, 0, 0},
                  {"coll_allreduce", allreduce, 0, 0},
                  {"coll_allgather", allgather, 1, 0},
                  {"coll_alltoall", alltoall, 1, 0},
                  {"coll_reduce_scatter", reduce_scatter, 0, 0},
                  {"coll_alltoallv", alltoallv, 1, 1}};
enum { operation_count = sizeof operations / sizeof *operations };

static void split_evenly(size_t count) {
    for (int i = 0; i < ranks; ++i)
        block_counts[i] = (int)(count / (size_t)ranks) + ((size_t)i < count % (size_t)ranks);
}

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    int which = 0;
    while (strcmp(operations[which].name, point->name)) ++which;
    const size_t count = point->size / sizeof(double);
    split_evenly(count);
    prepare(count, stamp);
    const double begin = host_time();
    for (long i = 0; i < iterations; ++i) operations[which].call(count, stamp, (int)(i % bench->ranks));
    return elapsed_over_ranks(begin, host_time());
}

static size_t buffer_size(int operation, size_t size) {
    return operations[operation].blocks ? size * (size_t)ranks : size;
}

// Whether a name is in a comma-separated list; every name is in an empty one.
static int is_listed(const char* list, const char* name) {
    const size_t length = strlen(name);
    for (const char* at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && !strncmp(at, name, length)) return 1;
    return !*list;
}

static size_t add_points(struct bench* bench, const char* only, int argc, char** argv) {
    size_t sizes[max_points], most = sizeof(double);
    const int count = message_sizes(argc, argv, sizes, max_points);
    for (int i = 0; i < operation_count; ++i) {
        if (!is_listed(only, operations[i].name) || (!*only && operations[i].on_call)) continue;
        if (i == 0) {
            add_point(bench, operations[i].name, 0);
            continue;
        }
        for (int k = 0; k < count; ++k) {
            const size_t memory = buffer_size(i, sizes[k]);
            if (sizes[k] < sizeof(double) || memory * (size_t)ranks > most_memory) continue;
            add_point(bench, operations[i].name, sizes[k]);
            if (memory > most) most = memory;
        }
    }
    return most;
}

// Libraries connect two ranks at their first message; that is not timed here.
static void connect_all(void) {
    for (int k = 1; k < ranks; ++k)
        MPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + k) % ranks, 0, NULL, 0, MPI_BYTE, (rank - k + ranks) % ranks,
                     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    rank = bench.rank, ranks = bench.ranks;
    if (ranks > most_ranks) fail("too many ranks for this benchmark");
    const size_t most = add_points(&bench, text_option(argc, argv, "only", ""), argc, argv);
    out = (double*)touched_memory(most);
    in = (double*)touched_memory(most);
    connect_all();
    for (int i = 0; i < 2; ++i) MPI_Barrier(MPI_COMM_WORLD); // all ranks have entered
    measure(&bench, batch);
    for (int i = 0; i < bench.points && rank == 0; ++i)
        report(bench.point[i].name, bench.point[i].size, bench.point[i].per_iteration[0] * 1e6, "us");
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
