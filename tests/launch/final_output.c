/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * final_output WAY [ms]: rank 0 prints "last words" and ends by method WAY, or another rank does. Output that
 * the method does not flush is flushed where `flush` is set. */
#include <dirent.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void flush(void) { fflush(stdout); }

static void fatal_error(void) { MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD); }

static void* hold_stdout(void* unused) {
    flockfile(stdout);
    pause();
    return unused;
}

static void hold_stdout_in_thread(void* (*holder)(void*)) {
    pthread_t thread;
    pthread_create(&thread, NULL, holder, NULL);
    while (ftrylockfile(stdout) == 0) {
        funlockfile(stdout);
        usleep(1000);
    }
}

/* Rank 1 ends the job while rank 0, in a fatal error, is still flushing its buffers. */
static int other_pid;
static int threads_before;

static int count_threads(void) {
    int count = 0;
    DIR* tasks = opendir("/proc/self/task");
    while (readdir(tasks) != NULL) ++count;
    closedir(tasks);
    return count;
}

/* The library flushes in a separate thread. */
static int is_flushing(void) { return count_threads() > threads_before; }

/* mpiexec has noticed the exit, and signals this rank to end. */
static int other_has_exited(void) { return kill(other_pid, 0) != 0; }

static void wait_until(int (*happened)(void), int milliseconds) {
    for (int i = 0; i < milliseconds && !happened(); ++i) usleep(1000);
}

static void* hold_stdout_until_other_exits(void* unused) {
    threads_before = count_threads(); /* before the main thread continues */
    flockfile(stdout);
    wait_until(is_flushing, 5000);
    kill(other_pid, SIGUSR1);
    wait_until(other_has_exited, 1500); /* less than the library waits for the flush thread */
    funlockfile(stdout);
    return unused;
}

static void die(void) { raise(SIGKILL); }

static void end_concurrently(void (*end_of_rank_1)(void)) {
    int pid = getpid();
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    MPI_Sendrecv(&pid, 1, MPI_INT, 1 - rank, 0, &other_pid, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (rank == 1) {
        int received;
        sigwait(&usr1, &received);
        end_of_rank_1();
    }
    hold_stdout_in_thread(hold_stdout_until_other_exits);
    fatal_error();
}

static void wait_to_be_killed(void) {
    for (;;) pause();
}

/* The method of rank 0; the others wait for it. */
static void end_by(const char* way) {
    if (strcmp(way, "MPI_Abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(way, "fatal") == 0) fatal_error();
    if (strcmp(way, "exit") == 0) exit(3);
    if (strcmp(way, "held") == 0) {
        hold_stdout_in_thread(hold_stdout);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    flush();
    if (strcmp(way, "_exit") == 0) _exit(3);
    if (strcmp(way, "abort") == 0) abort();
    if (strcmp(way, "signal") == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer would handle it */
        raise(SIGSEGV);
    }
    wait_to_be_killed(); /* time limit, Ctrl-C, another rank's death */
}

/* All ranks return 1 after MPI_Finalize, rank 0 after a delay. */
static int late_return(int milliseconds) {
    MPI_Finalize();
    if (rank == 0) usleep((useconds_t)milliseconds * 1000);
    return 1;
}

int main(int argc, char** argv) {
    const char* way = argc > 1 ? argv[1] : "return";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("last words\n");
    if (strcmp(way, "all fatal") == 0) end_concurrently(fatal_error);
    if (strcmp(way, "fatal during a death") == 0) end_concurrently(die);
    if (strcmp(way, "late") == 0) return late_return(argc > 2 ? atoi(argv[2]) : 0);
    if (strcmp(way, "return") == 0) {
        MPI_Finalize();
        return 0;
    }
    if (strcmp(way, "killed") == 0) {
        flush();
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) die();
    }
    if (rank == 0) end_by(way);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
