// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// intercluster_traffic BYTES OPERATION=TIMES...: runs each collective TIMES times; gateways count its
// messages.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 64 };
static int ranks, count;
static int counts[most_ranks], places[most_ranks];
static MPI_Datatype types[most_ranks];
static MPI_Aint offsets[most_ranks];
static char *in, *out;
static MPI_Comm world, ring; // ring: each rank with its predecessor and successor

static void barrier(void) { MPI_Barrier(world); }
static void bcast(void) { MPI_Bcast(in, count, MPI_CHAR, 0, world); }
static void reduce(void) { MPI_Reduce(out, in, count, MPI_CHAR, MPI_MAX, 0, world); }
static void allreduce(void) { MPI_Allreduce(out, in, count, MPI_CHAR, MPI_MAX, world); }
static void gather(void) { MPI_Gather(out, count, MPI_CHAR, in, count, MPI_CHAR, 0, world); }
static void gatherv(void) { MPI_Gatherv(out, count, MPI_CHAR, in, counts, places, MPI_CHAR, 0, world); }
static void scatter(void) { MPI_Scatter(in, count, MPI_CHAR, out, count, MPI_CHAR, 0, world); }
static void scatterv(void) { MPI_Scatterv(in, counts, places, MPI_CHAR, out, count, MPI_CHAR, 0, world); }
static void allgather(void) { MPI_Allgather(out, count, MPI_CHAR, in, count, MPI_CHAR, world); }
static void allgatherv(void) { MPI_Allgatherv(out, count, MPI_CHAR, in, counts, places, MPI_CHAR, world); }
static void alltoall(void) { MPI_Alltoall(out, count, MPI_CHAR, in, count, MPI_CHAR, world); }
static void alltoallv(void) {
    MPI_Alltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, world);
}
static void alltoallw(void) { MPI_Alltoallw(out, counts, places, types, in, counts, places, types, world); }
static void reduce_scatter_block(void) { MPI_Reduce_scatter_block(out, in, count, MPI_CHAR, MPI_MAX, world); }
static void reduce_scatter(void) { MPI_Reduce_scatter(out, in, counts, MPI_CHAR, MPI_MAX, world); }
static void scan(void) { MPI_Scan(out, in, count, MPI_CHAR, MPI_MAX, world); }
static void exscan(void) { MPI_Exscan(out, in, count, MPI_CHAR, MPI_MAX, world); }
static void neighbor_allgather(void) {
    MPI_Neighbor_allgather(out, count, MPI_CHAR, in, count, MPI_CHAR, ring);
}
static void neighbor_allgatherv(void) {
    MPI_Neighbor_allgatherv(out, count, MPI_CHAR, in, counts, places, MPI_CHAR, ring);
}
static void neighbor_alltoall(void) {
    MPI_Neighbor_alltoall(out, count, MPI_CHAR, in, count, MPI_CHAR, ring);
}
static void neighbor_alltoallv(void) {
    MPI_Neighbor_alltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, ring);
}
static void neighbor_alltoallw(void) {
    MPI_Neighbor_alltoallw(out, counts, offsets, types, in, counts, offsets, types, ring);
}
static void ialltoallv(void) {
    MPI_Request request;
    MPI_Ialltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void comm_dup(void) {
    MPI_Comm copy;
    MPI_Comm_dup(world, &copy);
    MPI_Comm_free(&copy);
}
static void comm_split(void) {
    MPI_Comm half;
    MPI_Comm_split(world, 0, 0, &half);
    MPI_Comm_free(&half);
}

#define NAMED(operation)                                                                                     \
    { #operation, operation }
static const struct {
    const char* name;
    void (*call)(void);
} operations[] = {NAMED(barrier),
                  NAMED(bcast),
                  NAMED(reduce),
                  NAMED(allreduce),
                  NAMED(gather),
                  NAMED(gatherv),
                  NAMED(scatter),
                  NAMED(scatterv),
                  NAMED(allgather),
                  NAMED(allgatherv),
                  NAMED(alltoall),
                  NAMED(alltoallv),
                  NAMED(alltoallw),
                  NAMED(reduce_scatter_block),
                  NAMED(reduce_scatter),
                  NAMED(scan),
                  NAMED(exscan),
                  NAMED(neighbor_allgather),
                  NAMED(neighbor_allgatherv),
                  NAMED(neighbor_alltoall),
                  NAMED(neighbor_alltoallv),
                  NAMED(neighbor_alltoallw),
                  NAMED(ialltoallv),
                  NAMED(comm_dup),
                  NAMED(comm_split)};

static void perform(const char* order) {
    const char* sign = strchr(order, '=');
    for (size_t i = 0; sign != NULL && i < sizeof operations / sizeof *operations; ++i) {
        const size_t length = strlen(operations[i].name);
        if (length != (size_t)(sign - order) || strncmp(order, operations[i].name, length) != 0) continue;
        for (int k = atoi(sign + 1); k > 0; --k) operations[i].call();
        return;
    }
    fprintf(stderr, "intercluster_traffic: no operation %s\n", order);
    MPI_Abort(world, 1);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    MPI_Comm_size(world, &ranks);
    count = argc > 1 ? atoi(argv[1]) : 8;
    if (ranks > most_ranks) MPI_Abort(world, 1);
    for (int r = 0; r < ranks; ++r) {
        counts[r] = count;
        places[r] = r * count;
        offsets[r] = places[r];
        types[r] = MPI_CHAR;
    }
    MPI_Cart_create(world, 1, &ranks, (int[]){1}, 0, &ring);
    in = calloc((size_t)ranks, (size_t)count);
    out = calloc((size_t)ranks, (size_t)count);
    for (int i = 2; i < argc; ++i) perform(argv[i]);
    free(in);
    free(out);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
