// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The last rank dies while the others use windows, files or ports with it. Every call returns.
#pragma once

#include "check.hpp"
#include "rank_failures.hpp"

#include <mpi.h>
#include <string>
#include <unistd.h>

inline MPI_Group group_of(int rank) {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group one = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &rank, &one);
    MPI_Group_free(&all);
    return one;
}

// The result of a lock that a failed rank holds. A remote lock may be acquired with the first operation.
inline int lock_of_failed_holder(int target, MPI_Win win) {
    int code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Put(&rank_, 1, MPI_INT, target, 0, 1, MPI_INT, win);
    if (code == MPI_SUCCESS) code = MPI_Win_flush(target, win);
    MPI_Win_unlock(target, win);
    return code;
}

// The memory of a failed rank of the same node may still be accessible.
inline void expect_success_or_failed(int code, const char* what) {
    if (code != MPI_SUCCESS) expect_class(code, MPIX_ERR_PROC_FAILED, what);
}

// Operations with requests, started before and after the death is known: all complete.
inline void operations_on_failed_target(int target, MPI_Win win) {
    for (int i = 0; i < 200; ++i) {
        int here[4] = {};
        MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        expect_success_or_failed(MPI_Rget(&here[0], 1, MPI_INT, target, 0, 1, MPI_INT, win, &requests[0]),
                                 "MPI_Rget");
        expect_success_or_failed(MPI_Rput(&here[1], 1, MPI_INT, target, 0, 1, MPI_INT, win, &requests[1]),
                                 "MPI_Rput");
        expect_success_or_failed(MPI_Rget_accumulate(&here[1], 1, MPI_INT, &here[2], 1, MPI_INT, target, 0, 1,
                                                     MPI_INT, MPI_SUM, win, &requests[2]),
                                 "MPI_Rget_accumulate");
        for (MPI_Request& r : requests) expect_success_or_failed(MPI_Wait(&r, MPI_STATUS_IGNORE), "MPI_Wait");
        expect_success_or_failed(MPI_Fetch_and_op(&here[1], &here[3], MPI_INT, target, 0, MPI_SUM, win),
                                 "MPI_Fetch_and_op");
        expect_success_or_failed(MPI_Compare_and_swap(&here[1], &here[2], &here[3], MPI_INT, target, 0, win),
                                 "MPI_Compare_and_swap");
        expect_success_or_failed(MPI_Win_flush(target, win), "MPI_Win_flush");
        MPI_Request flush = MPI_REQUEST_NULL;
        expect_success_or_failed(MPIX_Win_iflush(target, win, &flush), "MPIX_Win_iflush");
        expect_success_or_failed(MPI_Wait(&flush, MPI_STATUS_IGNORE), "MPI_Wait of a flush");
        usleep(500);
    }
}

// A member of a window dies while the others need it: as holder of a lock, as origin, as target.
inline void windows_with_failures(unsigned seed) {
    enum {
        exclusive_holder,
        shared_holder,
        own_holder,
        origin,
        target,
        flushed_target,
        requests,
        fence,
        nonblocking_fence,
        cases
    };
    const unsigned which = seed % cases;
    const int victim = size_ - 1;
    const int locked = which == own_holder ? victim : 0;
    MPI_Group at_victim = group_of(victim);
    MPI_Group at_first = group_of(0);
    MPI_Win win = MPI_WIN_NULL;
    int* memory = nullptr;
    CHECK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win) ==
          MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (rank_ == victim && which <= own_holder) {
        MPI_Win_lock(which == shared_holder ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, locked, 0, win);
        MPI_Get(memory, 1, MPI_INT, locked, 0, 1, MPI_INT, win);
        MPI_Win_flush(locked, win);
    }
    if (rank_ == 0 && which == origin) MPI_Win_post(at_victim, 0, win);
    if (which == flushed_target || which == requests) MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == victim) {
        if (which == origin) MPI_Win_start(at_first, 0, win);
        usleep(20000);
        die();
    }
    if (which <= own_holder)
        expect_class(lock_of_failed_holder(locked, win), MPIX_ERR_PROC_FAILED, "a lock of a failed rank");
    if (rank_ == 0 && which == origin)
        expect_class(MPI_Win_wait(win), MPIX_ERR_PROC_FAILED, "MPI_Win_wait for a failed origin");
    if (rank_ == 0 && which == target)
        expect_class(MPI_Win_start(at_victim, 0, win), MPIX_ERR_PROC_FAILED,
                     "MPI_Win_start for a failed target");
    if (which == flushed_target) {
        usleep(50000);
        expect_success_or_failed(MPI_Put(&rank_, 1, MPI_INT, victim, 0, 1, MPI_INT, win), "MPI_Put");
        expect_success_or_failed(MPI_Win_flush(victim, win), "MPI_Win_flush");
    }
    if (which == requests) operations_on_failed_target(victim, win);
    if (which == flushed_target || which == requests)
        expect_success_or_failed(MPI_Win_unlock_all(win), "MPI_Win_unlock_all");
    if (which == fence)
        expect_class(MPI_Win_fence(0, win), MPIX_ERR_PROC_FAILED, "MPI_Win_fence with a failed member");
    if (which == nonblocking_fence) {
        MPI_Request request = MPI_REQUEST_NULL;
        int code = MPIX_Win_ifence(0, win, &request);
        if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect_class(code, MPIX_ERR_PROC_FAILED, "MPIX_Win_ifence with a failed member");
    }
    MPI_Group_free(&at_victim);
    MPI_Group_free(&at_first);
    expect_class(MPI_Win_free(&win), MPIX_ERR_PROC_FAILED, "MPI_Win_free");
}

// A member of an open file dies: collective calls fail, others go on.
inline void files_with_failures() {
    int number = getpid();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const std::string name = "fault_tolerance_file." + std::to_string(number); // in a shared directory
    MPI_File file = MPI_FILE_NULL;
    CHECK(MPI_File_open(MPI_COMM_WORLD, name.c_str(),
                        MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    CHECK(MPI_File_write_shared(file, &rank_, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    if (rank_ == size_ - 1) {
        usleep(20000);
        die();
    }
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS)
        code = MPI_File_write_at_all(file, rank_ * MPI_Offset{4}, &rank_, 1, MPI_INT, MPI_STATUS_IGNORE);
    expect_class(code, MPIX_ERR_PROC_FAILED, "MPI_File_write_at_all with a failed member");
    CHECK(MPI_File_write_at(file, 64, &rank_, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_write_shared(file, &rank_, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    expect_class(MPI_File_write_ordered(file, &rank_, 1, MPI_INT, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED,
                 "MPI_File_write_ordered with a failed member");
    static_cast<void>(MPI_File_close(&file)); // returns
    unlink(name.c_str());
}

// A member dies while the root waits for a connection (even seeds), or for its acceptance.
inline void ports_with_failures(unsigned seed) {
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank_ == 0) CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rank_ == size_ - 1) die_after(200000);
    MPI_Comm other = MPI_COMM_NULL;
    const int code = seed % 2 == 0 ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, &other)
                                   : MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, &other);
    expect_class(code, MPIX_ERR_PROC_FAILED, "a connection of a group with a failed member");
    if (rank_ == 0) CHECK(MPI_Close_port(port) == MPI_SUCCESS);
    MPI_Comm_free(&comm);
}
