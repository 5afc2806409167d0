// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Typical deadlocks: hang CASE. The hang report must identify each.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { large = 1 << 20 };
static char block[large], other[large];
static int rank, size;
static const MPI_Comm world = MPI_COMM_WORLD;

static void receive(int from, int tag, MPI_Comm comm) {
    int x;
    MPI_Recv(&x, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
}

static void skipped_barrier(void) {
    if (rank == 1)
        receive(3, 7, world);
    else
        MPI_Barrier(world);
}

static void wrong_root(void) { MPI_Bcast(block, large, MPI_BYTE, rank == 1 ? 1 : 0, world); }

static void send_send(void) {
    MPI_Send(block, large, MPI_BYTE, 1 - rank, 1, world);
    MPI_Recv(other, large, MPI_BYTE, 1 - rank, 1, world, MPI_STATUS_IGNORE);
}

static void recv_recv(void) { receive(1 - rank, 1, world); }

static void wrong_tag(void) { // the send completes eagerly; the unexpected message matches no receive
    if (rank == 0)
        receive(1, 7, world);
    else
        MPI_Send(&rank, 1, MPI_INT, 0, 8, world);
    MPI_Barrier(world);
}

static void wrong_tag_large(void) {
    if (rank == 0)
        MPI_Recv(block, large, MPI_BYTE, 1, 7, world, MPI_STATUS_IGNORE);
    else
        MPI_Send(block, large, MPI_BYTE, 0, 8, world);
}

static MPI_Comm make_rows(void) {
    MPI_Comm rows;
    MPI_Comm_dup(world, &rows);
    MPI_Comm_set_name(rows, "rows");
    return rows;
}

static void wrong_comm(void) {
    const MPI_Comm rows = make_rows();
    if (rank == 0)
        receive(1, 7, rows);
    else
        MPI_Send(&rank, 1, MPI_INT, 0, 7, world);
    MPI_Barrier(world);
}

static void wrong_comm_collective(void) {
    const MPI_Comm rows = make_rows();
    MPI_Barrier(rank == 1 ? rows : world);
}

static void skipped_barrier_on_dup(void) {
    const MPI_Comm rows = make_rows();
    if (rank == 1)
        receive(2, 7, world);
    else
        MPI_Barrier(rows);
}

static void peer_finalized(void) {
    if (rank == 0) receive(1, 1, world);
    MPI_Finalize();
    if (rank == 1) sleep(60);
    exit(0);
}

static void peer_exited(void) {
    if (rank == 0) receive(1, 1, world);
}

static void peer_computes(void) {
    if (rank == 1) sleep(600);
    MPI_Barrier(world);
}

static void three_circle(void) {
    if (rank < 3)
        receive((rank + 1) % 3, 1, world);
    else
        receive(0, 1, world);
}

static void wildcard(void) {
    if (rank == 0) receive(MPI_ANY_SOURCE, 5, world);
}

static void ssend(void) {
    if (rank == 0) MPI_Ssend(&rank, 1, MPI_INT, 1, 3, world);
    MPI_Barrier(world);
}

static void waitall(void) {
    if (rank == 0) {
        int x[2];
        MPI_Request r[2];
        for (int i = 0; i < 2; ++i) MPI_Irecv(&x[i], 1, MPI_INT, i + 1, 4, world, &r[i]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        MPI_Send(&rank, 1, MPI_INT, 0, 4, world);
    }
    MPI_Barrier(world);
}

static void probe(void) {
    if (rank == 0)
        MPI_Probe(1, 9, world, MPI_STATUS_IGNORE);
    else
        receive(0, 9, world);
}

static void barrier_reduce(void) {
    if (rank == 1)
        MPI_Reduce(block, other, large, MPI_BYTE, MPI_BOR, 1, world);
    else
        MPI_Barrier(world);
}

static void one_barrier_more(void) {
    MPI_Barrier(world);
    if (rank == 2) MPI_Barrier(world);
    if (rank != 2) receive(2, 6, world);
}

static void agreement(void) {
    int flag = 1;
    if (rank == 2)
        receive(0, 6, world);
    else
        MPIX_Comm_agree(world, &flag);
}

// --- jobs without a deadlock

static void all_sleep_for_3_seconds(void) {
    MPI_Barrier(world);
    sleep(3);
}

static void slow_messages(void) {
    for (int i = 0; i < 8; ++i) {
        if (rank == 0) {
            usleep(300000);
            MPI_Send(&i, 1, MPI_INT, 1, 0, world);
        } else {
            receive(0, 0, world);
        }
    }
}

static void computes_for_3_seconds(void) {
    if (rank == 1) sleep(3);
    MPI_Barrier(world);
}

static const struct {
    const char* name;
    void (*run)(void);
} cases[] = {
#define CASE(name)                                                                                           \
    { #name, name }
    CASE(skipped_barrier),
    CASE(wrong_root),
    CASE(send_send),
    CASE(recv_recv),
    CASE(wrong_tag),
    CASE(wrong_tag_large),
    CASE(wrong_comm),
    CASE(peer_finalized),
    CASE(wrong_comm_collective),
    CASE(peer_exited),
    CASE(peer_computes),
    CASE(skipped_barrier_on_dup),
    CASE(three_circle),
    CASE(wildcard),
    CASE(ssend),
    CASE(waitall),
    CASE(probe),
    CASE(barrier_reduce),
    CASE(slow_messages),
    CASE(one_barrier_more),
    CASE(computes_for_3_seconds),
    CASE(all_sleep_for_3_seconds),
    CASE(agreement),
};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            MPI_Finalize();
            return 0;
        }
    MPI_Abort(world, 99);
}
