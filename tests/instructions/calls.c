/* SPDX-FileCopyrightText: 2026 the ZipMPI authors */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: calls, with 2 ranks under callgrind; count_test.py reads the profile of rank 0
 * Each call is made in a function of its own, count_<call>, after the same calls in warm_<call>. Rank 1 does
 * what the call needs before rank 0 makes it, so that no call waits: the count depends on the code only.
 */
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { calls = 16, persistent = 4 };

static int rank;
static int peer;
static char buffer[256];
static double number = 1, sum;
static MPI_Request requests[calls];
static _Atomic int* turn; /* in shared memory: number of steps taken */
static int step;
static int result;
static MPI_Win target;

/* The next step, by one of the ranks; the other waits without MPI, so that messages stay unread. */
static void take_step(int of_rank, void (*action)(void)) {
    while (atomic_load(turn) < step) sched_yield();
    ++step;
    if (rank != of_rank) return;
    action();
    atomic_fetch_add(turn, 1);
}

static void send_all(void) {
    for (int i = 0; i < calls; ++i) MPI_Send(buffer, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
}
static void recv_all(void) {
    for (int i = 0; i < calls; ++i)
        MPI_Recv(buffer, sizeof buffer, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void post_all(void) {
    for (int i = 0; i < calls; ++i) MPI_Irecv(buffer, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[i]);
}
static void start_all(void) {
    for (int i = 0; i < persistent; ++i) {
        MPI_Recv_init(buffer, 8, MPI_CHAR, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[i]);
        MPI_Start(&requests[i]);
    }
}
static void free_all(void) {
    for (int i = 0; i < persistent; ++i) {
        MPI_Cancel(&requests[i]);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        MPI_Request_free(&requests[i]);
    }
}
static void wait_all(void) { MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE); }
static void nothing(void) {}

#define CALL(name, statement)                                                                                \
    __attribute__((noinline)) static void warm_##name(int i) {                                               \
        (void)i;                                                                                             \
        statement;                                                                                           \
    }                                                                                                        \
    __attribute__((noinline)) static void count_##name(int i) {                                              \
        (void)i;                                                                                             \
        statement;                                                                                           \
        __asm__ volatile("");                                                                                \
    }
CALL(send, MPI_Send(buffer, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD))
CALL(send_256, MPI_Send(buffer, 256, MPI_CHAR, peer, 1, MPI_COMM_WORLD)) /* several slots of the ring */
CALL(recv, MPI_Recv(buffer, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
CALL(isend, MPI_Isend(buffer, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[i]))
CALL(irecv, MPI_Irecv(buffer, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[i]))
CALL(waitall, if (i == 0) MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE))
CALL(test, int flag = 0; MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE))
CALL(testany, int index = 0; int flag = 0;
     MPI_Testany(persistent, requests, &index, &flag, MPI_STATUS_IGNORE))
CALL(sendrecv, MPI_Sendrecv(buffer, 8, MPI_CHAR, peer, 1, buffer + 32, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE))
CALL(comm_rank, MPI_Comm_rank(MPI_COMM_WORLD, &result))
CALL(put, MPI_Put(buffer, 8, MPI_CHAR, peer, 0, 8, MPI_CHAR, target))
CALL(barrier_self, MPI_Barrier(MPI_COMM_SELF))
CALL(allreduce_self, MPI_Allreduce(&number, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF))

struct Case {
    void (*peer_before)(void); /* rank 1, before the calls */
    void (*before)(void);      /* rank 0 */
    void (*warm)(int);
    void (*count)(int);
    void (*peer_after)(void); /* rank 1, after the calls */
    void (*after)(void);      /* rank 0 */
};
static const struct Case cases[] = {
    {nothing, nothing, warm_send, count_send, recv_all, nothing},
    {nothing, nothing, warm_send_256, count_send_256, recv_all, nothing},
    {send_all, nothing, warm_recv, count_recv, nothing, nothing},
    {nothing, nothing, warm_isend, count_isend, recv_all, wait_all},
    {nothing, nothing, warm_irecv, count_irecv, send_all, wait_all},
    {send_all, post_all, warm_waitall, count_waitall, nothing, nothing},
    {send_all, post_all, warm_test, count_test, nothing, wait_all},
    {nothing, start_all, warm_testany, count_testany, nothing, free_all},
    {send_all, nothing, warm_sendrecv, count_sendrecv, recv_all, nothing},
    {nothing, nothing, warm_comm_rank, count_comm_rank, nothing, nothing},
    {nothing, nothing, warm_put, count_put, nothing, nothing},
    {nothing, nothing, warm_barrier_self, count_barrier_self, nothing, nothing},
    {nothing, nothing, warm_allreduce_self, count_allreduce_self, nothing, nothing},
};

static void (*current)(int);
static void call_all(void) {
    for (int i = 0; i < calls; ++i) current(i);
}

static void run(const struct Case* c, void (*call)(int)) {
    current = call;
    take_step(1, c->peer_before);
    take_step(0, c->before);
    take_step(0, call_all);
    take_step(1, c->peer_after);
    take_step(0, c->after);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "usage: mpiexec -n 2 calls\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    peer = 1 - rank;
    MPI_Win win;
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_allocate_shared(rank == 0 ? sizeof *turn : 0, sizeof *turn, MPI_INFO_NULL, MPI_COMM_WORLD,
                            (void*)&turn, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, (void*)&turn);
    if (rank == 0) atomic_store(turn, 0);
    char* memory = NULL;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &target);
    MPI_Win_lock_all(0, target);
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        run(&cases[i], cases[i].warm);
        run(&cases[i], cases[i].count);
    }
    MPI_Win_unlock_all(target);
    MPI_Win_free(&target);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
