// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks fail, and the others continue: started with mpiexec --keep-going. usage: fault_tolerance CASE seed=N
#include "check.hpp"
#include "rank_failures.hpp"
#include "window_failures.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

std::mt19937 dice; // one seed for all ranks

int pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(dice); }

int failed_members(MPI_Comm comm) {
    MPI_Group failed = MPI_GROUP_NULL;
    int size = 0;
    CHECK(MPIX_Comm_get_failed(comm, &failed) == MPI_SUCCESS);
    MPI_Group_size(failed, &size);
    MPI_Group_free(&failed);
    return size;
}

// All operations on a communicator of surviving ranks.
void compute(MPI_Comm comm) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 20; ++i) {
        int sum = 0;
        CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
        CHECK(sum == size * (size - 1) / 2);
        std::vector<int> out(50000, rank * 1000 + i);
        std::vector<int> in(out.size());
        const int next = (rank + 1) % size;
        const int previous = (rank + size - 1) % size;
        CHECK(MPI_Sendrecv(out.data(), 50000, MPI_INT, next, 5, in.data(), 50000, MPI_INT, previous, 5, comm,
                           MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(std::all_of(in.begin(), in.end(), [&](int v) { return v == previous * 1000 + i; }));
    }
    MPI_Comm copy = MPI_COMM_NULL;
    CHECK(MPI_Comm_dup(comm, &copy) == MPI_SUCCESS);
    CHECK(MPI_Barrier(copy) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&copy) == MPI_SUCCESS);
}

void continue_on_survivors(MPI_Comm comm, int living) {
    MPI_Comm rest = MPI_COMM_NULL;
    int size = 0;
    CHECK(MPIX_Comm_shrink(comm, &rest) == MPI_SUCCESS);
    MPI_Comm_size(rest, &size);
    if (living >= 0) CHECK(size == living);
    compute(rest);
    CHECK(MPI_Comm_free(&rest) == MPI_SUCCESS);
}

// Receives from, and sends to, a rank that dies.
void point_to_point() {
    const int victim = size_ - 1;
    if (rank_ == victim) {
        usleep(20000);
        die();
    }
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_INT, victim, 8, MPI_COMM_WORLD, &request);
    expect_class(MPI_Recv(&value, 1, MPI_INT, victim, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                 MPIX_ERR_PROC_FAILED, "MPI_Recv from a rank that dies");
    expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED, "MPI_Wait");
    CHECK(request == MPI_REQUEST_NULL);
    expect_class(MPI_Ssend(&value, 1, MPI_INT, victim, 7, MPI_COMM_WORLD), MPIX_ERR_PROC_FAILED, "MPI_Ssend");
    std::vector<char> large(1 << 20);
    expect_class(MPI_Send(large.data(), 1 << 20, MPI_CHAR, victim, 7, MPI_COMM_WORLD), MPIX_ERR_PROC_FAILED,
                 "a long MPI_Send");
    expect_class(MPI_Probe(victim, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED,
                 "MPI_Probe");
    CHECK(failed_members(MPI_COMM_WORLD) == 1);
    // MPI_ANY_SOURCE: an error until the failure is acknowledged; the request stays pending.
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &request);
    expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED_PENDING,
                 "MPI_Wait with MPI_ANY_SOURCE");
    CHECK(request != MPI_REQUEST_NULL);
    int acknowledged = 0;
    CHECK(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 1, &acknowledged) == MPI_SUCCESS && acknowledged == 1);
    int all = 1; // no rank sends before this
    CHECK(MPIX_Comm_agree(MPI_COMM_WORLD, &all) == MPI_SUCCESS && all == 1);
    const int next = (rank_ + 1) % (size_ - 1);
    CHECK(MPI_Send(&rank_, 1, MPI_INT, next, 9, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(value == (rank_ + size_ - 2) % (size_ - 1));
    expect_class(MPI_Barrier(MPI_COMM_WORLD), MPIX_ERR_PROC_FAILED, "MPI_Barrier");
    continue_on_survivors(MPI_COMM_WORLD, size_ - 1);
}

// More eager messages to the failed rank than its ring holds: none of the sends blocks forever.
void flood() {
    const int victim = size_ - 1;
    if (rank_ == victim) die();
    char block[8192] = {};
    int code = MPI_SUCCESS;
    for (int i = 0; i < 100000 && code == MPI_SUCCESS; ++i)
        code = MPI_Send(block, i % 2 == 0 ? 8 : 8192, MPI_CHAR, victim, 1, MPI_COMM_WORLD);
    expect_class(code, MPIX_ERR_PROC_FAILED, "a flood of MPI_Send");
    continue_on_survivors(MPI_COMM_WORLD, size_ - 1);
}

// A rank dies in a loop of collectives; the first rank to see the failure revokes the communicator.
void collectives() {
    const int victim = pick(0, size_ - 1);
    const int when = pick(0, 60);
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
    std::vector<double> data(10000, 1.0);
    std::vector<double> sum(data.size());
    int code = MPI_SUCCESS;
    for (int i = 0; code == MPI_SUCCESS; ++i) {
        if (rank_ == victim && i >= when) die();
        switch (i % 5) {
        case 0:
            code = MPI_Barrier(comm);
            break;
        case 1:
            code = MPI_Allreduce(data.data(), sum.data(), 1, MPI_DOUBLE, MPI_SUM, comm);
            break;
        case 2:
            code = MPI_Bcast(sum.data(), 10000, MPI_DOUBLE, i % size_, comm);
            break;
        case 3:
            code = MPI_Reduce(data.data(), sum.data(), 10000, MPI_DOUBLE, MPI_SUM, i % size_, comm);
            break;
        default: {
            MPI_Request request = MPI_REQUEST_NULL;
            code = MPI_Iallreduce(data.data(), sum.data(), 10000, MPI_DOUBLE, MPI_SUM, comm, &request);
            if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        }
    }
    CHECK(class_of(code) == MPIX_ERR_PROC_FAILED || class_of(code) == MPIX_ERR_REVOKED);
    CHECK(MPIX_Comm_revoke(comm) == MPI_SUCCESS);
    continue_on_survivors(comm, size_ - 1);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
}

// A rank dies while the others create the shared memory of their collectives, which the fifth one does. Its
// messages must not be taken for those of the collective (MPI_ERR_TRUNCATE).
void creation() {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
    int code = MPI_SUCCESS;
    for (int i = 0; i < 5 && code == MPI_SUCCESS; ++i) { // a rank may still be in the fourth
        if (i == 4 && rank_ == size_ - 1) die();
        code = MPI_Barrier(comm);
    }
    expect_class(code, MPIX_ERR_PROC_FAILED, "MPI_Barrier");
    continue_on_survivors(comm, size_ - 1);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
}

// One rank revokes while the others wait in different calls.
void revoke() {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
    int flag = 1;
    int value = 0;
    CHECK(MPIX_Comm_is_revoked(comm, &flag) == MPI_SUCCESS && flag == 0);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS); // no rank revokes before this
    std::vector<char> large(1 << 20);
    if (rank_ == 0) {
        usleep(30000);
        CHECK(MPIX_Comm_revoke(comm) == MPI_SUCCESS);
    } else {
        int code = MPI_SUCCESS;
        MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        switch (rank_ % 4) {
        case 1:
            code = MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
            break;
        case 2:
            while (code == MPI_SUCCESS) code = MPI_Barrier(comm);
            break;
        case 3:
            code = MPI_Send(large.data(), 1 << 20, MPI_CHAR, 0, 5, comm);
            break;
        default:
            MPI_Irecv(&value, 1, MPI_INT, 0, 1, comm, &requests[0]);
            MPI_Issend(&value, 1, MPI_INT, 0, 2, comm, &requests[1]);
            MPI_Ibarrier(comm, &requests[2]);
            MPI_Status statuses[3];
            CHECK(MPI_Waitall(3, requests, statuses) == MPI_ERR_IN_STATUS);
            for (const MPI_Status& s : statuses) expect_class(s.MPI_ERROR, MPIX_ERR_REVOKED, "MPI_Waitall");
            code = MPI_Barrier(comm);
        }
        expect_class(code, MPIX_ERR_REVOKED, "a call on a revoked communicator");
    }
    expect_class(MPI_Send(&value, 1, MPI_INT, 0, 0, comm), MPIX_ERR_REVOKED, "MPI_Send");
    expect_class(MPI_Bcast(&value, 1, MPI_INT, 0, comm), MPIX_ERR_REVOKED, "MPI_Bcast");
    expect_class(MPI_Comm_dup(comm, &comm), MPIX_ERR_REVOKED, "MPI_Comm_dup");
    CHECK(MPIX_Comm_is_revoked(comm, &flag) == MPI_SUCCESS && flag == 1);
    CHECK(MPI_Comm_size(comm, &value) == MPI_SUCCESS && value == size_);
    continue_on_survivors(comm, size_);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    compute(MPI_COMM_WORLD);
}

// Several ranks die at random times during a sequence of agreements: all survivors get equal results.
void agree() {
    const int rounds = 30;
    std::vector<int> dies_in(static_cast<size_t>(size_), rounds);
    for (int i = 0; i < size_ / 2; ++i)
        dies_in[static_cast<size_t>(pick(0, size_ - 1))] = pick(0, rounds - 1);
    MPI_Comm rest = agree_despite_failures(MPI_COMM_WORLD, dies_in, rounds, pick(0, 300));
    compute(rest);
    MPI_Comm_free(&rest);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const std::string which = argc > 1 ? argv[1] : "";
    const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2] + std::strlen("seed="))) : 1U;
    dice.seed(seed);
    if (which == "point_to_point") point_to_point();
    if (which == "flood") flood();
    if (which == "collectives") collectives();
    if (which == "creation") creation();
    if (which == "revoke") revoke();
    if (which == "agree") agree();
    const bool is_window_case = which == "windows" || which == "files" || which == "ports";
    if (which == "windows") windows_with_failures(seed);
    if (which == "files") files_with_failures();
    if (which == "ports") ports_with_failures(seed);
    if (is_window_case) continue_on_survivors(MPI_COMM_WORLD, size_ - 1);
    int failed = failed_members(MPI_COMM_WORLD);
    MPI_Group group = MPI_GROUP_NULL;
    MPIX_Comm_get_failed(MPI_COMM_WORLD, &group);
    std::vector<int> in_group(static_cast<size_t>(failed));
    std::vector<int> dead(static_cast<size_t>(failed));
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < failed; ++i) in_group[static_cast<size_t>(i)] = i;
    MPI_Group_translate_ranks(group, failed, in_group.data(), all, dead.data());
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    int speaker = 0;
    while (std::find(dead.begin(), dead.end(), speaker) != dead.end()) ++speaker;
    MPI_Finalize();
    if (rank_ == speaker) std::printf("fault_tolerance: ok\n");
    return 0;
}
