// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Members that die during a sequence of agreements, for programs started with mpiexec --keep-going.
#pragma once

#include "check.hpp"

#include <csignal>
#include <cstdio>
#include <unistd.h>

[[noreturn]] inline void die() {
    raise(SIGKILL);
    std::abort();
}

// Kills this process later, in the middle of whatever it does then.
inline void die_after(useconds_t delay) {
    const pid_t victim = getpid();
    if (fork() != 0) return;
    usleep(delay);
    kill(victim, SIGKILL);
    _exit(0);
}

inline void expect_class(int code, int wanted, const char* what) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (class_of(code) == wanted) return;
    MPI_Error_string(code, text, &length);
    std::fprintf(stderr, "rank %d: %s gave %d (%s)\n", rank_, what, code, text);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

// Each selected member dies in its round: at once if the delay is even, otherwise that many microseconds
// later, in the middle of the call. All survivors get equal results. Returns the surviving communicator.
inline MPI_Comm agree_despite_failures(MPI_Comm comm, const std::vector<int>& dies_in, int rounds,
                                       int delay) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const int own_end = dies_in[static_cast<size_t>(rank)];
    std::vector<int> seen;
    for (int round = 0; round < rounds; ++round) {
        if (own_end == round) {
            if (delay % 2 == 0) die();
            die_after(static_cast<useconds_t>(delay));
        }
        int flag = ~(1 << (round + rank) % 20);
        const int code = MPIX_Comm_agree(comm, &flag);
        CHECK(code == MPI_SUCCESS || class_of(code) == MPIX_ERR_PROC_FAILED);
        seen.push_back(flag);
        seen.push_back(class_of(code));
        if (code != MPI_SUCCESS) MPIX_Comm_failure_ack(comm);
    }
    if (own_end < rounds) sleep(60); // SIGKILL is pending
    MPI_Comm rest = MPI_COMM_NULL;
    CHECK(MPIX_Comm_shrink(comm, &rest) == MPI_SUCCESS);
    std::vector<int> lowest(seen.size());
    std::vector<int> highest(seen.size());
    const int n = static_cast<int>(seen.size());
    CHECK(MPI_Allreduce(seen.data(), lowest.data(), n, MPI_INT, MPI_MIN, rest) == MPI_SUCCESS);
    CHECK(MPI_Allreduce(seen.data(), highest.data(), n, MPI_INT, MPI_MAX, rest) == MPI_SUCCESS);
    CHECK(lowest == highest);
    return rest;
}
