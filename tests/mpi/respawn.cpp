// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks and the processes that they have spawned, or that have connected to them, recover together from
// failures: agreement, revocation, shrinking and replacing across jobs. Started with mpiexec --keep-going.
// usage: respawn CASE seed=N            spawns its children
//        respawn CASE seed=N serve|call NAME   two jobs connected by a service name (connected.py)
#include "check.hpp"
#include "rank_failures.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <unistd.h>

namespace {

constexpr int children = 2;

std::string program;
std::string which;
std::string seed;
bool is_child = false;
std::mt19937 dice; // one seed for all processes

int pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(dice); }

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}
int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

// Spawns this program again; its main() calls join().
MPI_Comm start(MPI_Comm comm, int n, const char* role) {
    std::vector<char*> arguments = {which.data(), seed.data(), const_cast<char*>(role), nullptr};
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK(MPI_Comm_spawn(program.c_str(), arguments.data(), n, MPI_INFO_NULL, 0, comm, &inter,
                         MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    return inter;
}

// Two jobs of one size: the calling one plays the children.
MPI_Comm connect(const char* role, const char* service) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter = MPI_COMM_NULL;
    if (std::string(role) == "serve") {
        if (rank_ == 0) CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
        if (rank_ == 0) CHECK(MPI_Publish_name(service, MPI_INFO_NULL, port) == MPI_SUCCESS);
        CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) == MPI_SUCCESS);
        if (rank_ == 0) CHECK(MPI_Unpublish_name(service, MPI_INFO_NULL, port) == MPI_SUCCESS);
        return inter;
    }
    is_child = true;
    CHECK(size_ == children);
    if (rank_ == 0)
        while (class_of(MPI_Lookup_name(service, MPI_INFO_NULL, port)) == MPI_ERR_NAME) usleep(10000);
    CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) == MPI_SUCCESS);
    return inter;
}

MPI_Comm merge(MPI_Comm inter, bool high) {
    MPI_Comm all = MPI_COMM_NULL;
    CHECK(MPI_Intercomm_merge(inter, high ? 1 : 0, &all) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    int flag = 1; // no process dies before this
    CHECK(MPIX_Comm_agree(all, &flag) == MPI_SUCCESS);
    return all;
}

void compute(MPI_Comm comm) {
    const int rank = rank_in(comm);
    const int size = size_of(comm);
    for (int i = 0; i < 5; ++i) {
        int sum = 0;
        CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
        CHECK(sum == size * (size - 1) / 2);
    }
}

// Works until a process has died, then recovers.
MPI_Comm recover(MPI_Comm comm, int living) {
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS) code = MPI_Barrier(comm);
    CHECK(class_of(code) == MPIX_ERR_PROC_FAILED || class_of(code) == MPIX_ERR_REVOKED);
    CHECK(MPIX_Comm_revoke(comm) == MPI_SUCCESS);
    MPI_Comm rest = MPI_COMM_NULL;
    CHECK(MPIX_Comm_shrink(comm, &rest) == MPI_SUCCESS);
    CHECK(size_of(rest) == living);
    int flag = 5;
    CHECK(MPIX_Comm_agree(rest, &flag) == MPI_SUCCESS && flag == 5);
    compute(rest);
    return rest;
}

// Without failures.
void agree(MPI_Comm inter, MPI_Comm all) {
    const int rank = rank_in(all);
    for (int i = 0; i < 10; ++i)
        for (MPI_Comm comm : {all, inter}) {
            int flag = ~(1 << (rank + i) % 20);
            int wanted = ~0;
            for (int r = 0; r < size_of(all); ++r) wanted &= ~(1 << (r + i) % 20);
            CHECK(MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag == wanted);
            flag = ~(1 << rank);
            MPI_Request request = MPI_REQUEST_NULL;
            CHECK(MPIX_Comm_iagree(comm, &flag, &request) == MPI_SUCCESS);
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && (flag & 15) == 0);
        }
    // One revokes, the others wait for a message that never arrives.
    if (rank == 1) {
        CHECK(MPIX_Comm_revoke(all) == MPI_SUCCESS);
    } else {
        int value = 0;
        FAILS(MPI_Recv(&value, 1, MPI_INT, 1, 7, all, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    }
    int flag = 6;
    CHECK(MPIX_Comm_agree(all, &flag) == MPI_SUCCESS && flag == 6);
    MPI_Comm copy = MPI_COMM_NULL;
    CHECK(MPIX_Comm_shrink(all, &copy) == MPI_SUCCESS && size_of(copy) == size_of(all));
    compute(copy);
    MPI_Comm_free(&copy);
    CHECK(MPIX_Comm_shrink(inter, &copy) == MPI_SUCCESS && size_of(copy) == size_);
    MPI_Comm merged = merge(copy, is_child);
    compute(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&copy);
}

// Failures on the merged communicator and the intercommunicator: detected, acknowledged, agreed on.
void acknowledge(MPI_Comm inter, MPI_Comm all) {
    const int victim = size_of(all) - 1;
    if (rank_in(all) == victim) die();
    for (MPI_Comm comm : {all, inter}) {
        int flag = 3;
        FAILS(MPIX_Comm_agree(comm, &flag), MPIX_ERR_PROC_FAILED);
        CHECK(flag == 3);
        CHECK(MPIX_Comm_failure_ack(comm) == MPI_SUCCESS);
        MPI_Group failed = MPI_GROUP_NULL;
        int n = 0;
        CHECK(MPIX_Comm_failure_get_acked(comm, &failed) == MPI_SUCCESS);
        MPI_Group_size(failed, &n);
        CHECK(n == 1);
        MPI_Group_free(&failed);
        CHECK(MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag == 3);
    }
    MPI_Comm rest = MPI_COMM_NULL;
    CHECK(MPIX_Comm_shrink(inter, &rest) == MPI_SUCCESS);
    CHECK(size_of(rest) == (is_child ? children - 1 : size_));
    MPI_Comm_free(&rest);
    rest = recover(all, size_of(all) - 1);
    MPI_Comm_free(&rest);
}

// A member dies, the others replace it by a process of a third job, and continue with the original size.
void replace(MPI_Comm all, int victim) {
    const int before = size_of(all);
    if (rank_in(all) == victim) die();
    MPI_Comm rest = recover(all, before - 1);
    MPI_Comm inter = start(rest, 1, "replacement");
    MPI_Comm whole = merge(inter, false);
    CHECK(size_of(whole) == before);
    compute(whole);
    int flag = rank_in(whole) == 0 ? 4 : 12;
    CHECK(MPIX_Comm_agree(whole, &flag) == MPI_SUCCESS && flag == 4);
    // Three jobs: the replacement dies.
    MPI_Comm again = recover(whole, before - 1);
    MPI_Comm_free(&again);
}

void run_replacement(MPI_Comm parent) {
    MPI_Comm whole = merge(parent, true);
    compute(whole);
    int flag = 12;
    CHECK(MPIX_Comm_agree(whole, &flag) == MPI_SUCCESS && flag == 4);
    die();
}

// All processes of one job die.
void lose_children(MPI_Comm inter, MPI_Comm all) {
    MPI_Barrier(all); // when it returns, with or without an error, all have left the agreement
    if (is_child) die();
    MPI_Comm rest = recover(all, size_);
    MPI_Comm none = MPI_COMM_NULL;
    FAILS(MPIX_Comm_shrink(inter, &none), MPIX_ERR_PROC_FAILED);
    MPI_Comm_free(&rest);
}

// Several die at random times during a sequence of agreements: all survivors get equal results.
void random_deaths(MPI_Comm all) {
    const int rounds = 20;
    const int size = size_of(all);
    std::vector<int> dies_in(static_cast<size_t>(size), rounds);
    for (int i = 0; i < size / 2; ++i) dies_in[static_cast<size_t>(pick(1, size - 1))] = pick(0, rounds - 1);
    MPI_Comm rest = agree_despite_failures(all, dies_in, rounds, pick(0, 3000));
    compute(rest);
    MPI_Comm_free(&rest);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK(argc > 2);
    program = argv[0];
    which = argv[1];
    seed = argv[2];
    dice.seed(static_cast<unsigned>(std::atoi(argv[2] + std::strlen("seed="))));
    MPI_Comm_get_parent(&inter);
    is_child = inter != MPI_COMM_NULL;
    if (argc > 3 && std::string(argv[3]) == "replacement") {
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        run_replacement(inter);
    }
    if (argc > 4)
        inter = connect(argv[3], argv[4]);
    else if (!is_child)
        inter = start(MPI_COMM_WORLD, children, "child");
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm all = merge(inter, is_child);
    if (which == "agree") agree(inter, all);
    if (which == "acknowledge") acknowledge(inter, all);
    if (which == "parent") replace(all, 1);
    if (which == "root") replace(all, 0); // the rank that spawned the children
    if (which == "child") replace(all, size_of(all) - 1);
    if (which == "lose_children") lose_children(inter, all);
    if (which == "random") random_deaths(all);
    const bool speaks = which == "root" ? !is_child && rank_ == 1 : !is_child && rank_ == 0;
    MPI_Finalize();
    if (speaks || which == "random") std::printf("respawn: ok\n");
    return 0;
}
