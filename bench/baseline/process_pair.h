// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two processes, each pinned to a separate core (the first two this process may use; both to one if there is
// only one), with a page of shared memory. Include it first: it defines _GNU_SOURCE.
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#define _GNU_SOURCE
#include "../programs/sample.h"
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline void stop_with(const char* what) {
    perror(what);
    exit(2);
}

static inline double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void* shared_memory(size_t bytes) {
    void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) stop_with("mmap");
    return memory;
}

static inline void pin_to(int wanted) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) stop_with("sched_getaffinity");
    int chosen = -1;
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE && seen <= wanted; ++cpu)
        if (CPU_ISSET(cpu, &allowed)) {
            chosen = cpu;
            ++seen;
        }
    CPU_ZERO(&one);
    CPU_SET(chosen, &one);
    if (sched_setaffinity(0, sizeof one, &one)) stop_with("sched_setaffinity");
}

// The second process runs `answer` until it is killed; returns its pid to the first one.
static inline pid_t begin_pair(void (*peer_main)(void)) {
    const pid_t parent = getpid(), child = fork();
    if (child < 0) stop_with("fork");
    if (child > 0) {
        pin_to(0);
        return child;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    pin_to(1);
    peer_main();
    _exit(0);
}

static inline void end_pair(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

// Spins, and yields if that takes long, for the case of a single core.
static inline void await_value(const atomic_ulong* flag, unsigned long value) {
    for (unsigned turns = 1; atomic_load_explicit(flag, memory_order_acquire) != value; ++turns)
        if (turns % 100000 == 0) sched_yield();
}

#endif
