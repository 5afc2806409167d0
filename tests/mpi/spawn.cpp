// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks spawn others, which run this program, and communicate with them: messages of all lengths, collectives
// over the intercommunicator and over a merged one, communicators and a window derived from that one, and the
// disconnect.
#include "check.hpp"

#include <algorithm>
#include <string>

namespace {

std::string program;

void exchange_lengths(MPI_Comm comm, int remote, bool first) {
    for (const int n : lengths) {
        std::vector<int> out = numbers(n, rank_ + n);
        std::vector<int> in(static_cast<size_t>(n) + 1, -1);
        MPI_Status status;
        if (first) CHECK(MPI_Send(out.data(), n, MPI_INT, remote, n, comm) == MPI_SUCCESS);
        CHECK(MPI_Recv(in.data(), n + 1, MPI_INT, remote, n, comm, &status) == MPI_SUCCESS);
        if (!first) CHECK(MPI_Ssend(out.data(), n, MPI_INT, remote, n, comm) == MPI_SUCCESS);
        CHECK(count_of(status) == n && status.MPI_SOURCE == remote);
        in.pop_back();
        CHECK(in == numbers(n, remote + n));
    }
}

// Every second int of a long buffer, in both directions at once.
void exchange_noncontiguous(MPI_Comm comm, int remote) {
    constexpr int n = 100000;
    MPI_Datatype gaps = MPI_DATATYPE_NULL;
    MPI_Type_vector(n, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    std::vector<int> out = numbers(2 * n, 0);
    std::vector<int> in(out.size(), -1);
    CHECK(MPI_Sendrecv(out.data(), 1, gaps, remote, 5, in.data(), 1, gaps, remote, 5, comm,
                       MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < 2 * n - 1; ++i) CHECK(in[static_cast<size_t>(i)] == (i % 2 == 0 ? i : -1));
    MPI_Type_free(&gaps);
}

// Each process writes its rank into the memory of all, and adds to that of the first.
void use_window(MPI_Comm merged, int rank, int size) {
    int* memory = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    CHECK(MPI_Win_allocate(static_cast<MPI_Aint>(sizeof(int)) * (size + 1), sizeof(int), MPI_INFO_NULL,
                           merged, &memory, &win) == MPI_SUCCESS);
    std::fill_n(memory, size + 1, 0);
    MPI_Win_fence(0, win);
    for (int target = 0; target < size; ++target) MPI_Put(&rank, 1, MPI_INT, target, rank, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(std::vector<int>(memory, memory + size) == numbers(size, 0));
    const int one = 1;
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, size, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(merged);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(memory[size] == (rank == 0 ? size : 0));
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

void use_merged(MPI_Comm merged, int parents) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    int sum = 0;
    CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged) == MPI_SUCCESS);
    CHECK(sum == size * (size - 1) / 2);
    std::vector<int> all(static_cast<size_t>(size));
    MPI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, merged);
    CHECK(all == numbers(size, 0));
    use_window(merged, rank, size);
    // One process of each job, then all again through an intercommunicator of halves with members of both.
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm again = MPI_COMM_NULL;
    MPI_Comm across = MPI_COMM_NULL;
    MPI_Comm_split(merged, rank % 2, rank, &half);
    MPI_Bcast(&sum, 1, MPI_INT, 0, half);
    CHECK(MPI_Intercomm_create(half, 0, merged, 1 - rank % 2, 9, &across) == MPI_SUCCESS);
    MPI_Intercomm_merge(across, rank % 2, &again);
    int product = 0;
    const int one = 1;
    MPI_Allreduce(&one, &product, 1, MPI_INT, MPI_SUM, again);
    CHECK(product == size);
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(merged, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int together = 0;
    MPI_Comm_size(node, &together);
    CHECK(together <= (rank < parents ? parents : size - parents));
    for (MPI_Comm* const comm : {&node, &again, &across, &half}) MPI_Comm_disconnect(comm);
}

void exchange_all(MPI_Comm inter, bool parent) {
    int remote = 0;
    int local = 0;
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_size(inter, &local);
    if (rank_ < remote && rank_ < local) {
        exchange_lengths(inter, rank_, parent);
        exchange_noncontiguous(inter, rank_);
    }
    int sum = 0;
    MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, inter); // sum of the other group
    CHECK(sum == remote * (remote - 1) / 2);
    MPI_Comm merged = MPI_COMM_NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    CHECK(MPI_Intercomm_merge(inter, parent ? 0 : 1, &merged) == MPI_SUCCESS);
    use_merged(merged, parent ? local : remote);
    MPI_Comm_dup(merged, &copy);
    MPI_Barrier(copy);
    MPI_Comm_disconnect(&copy);
    MPI_Comm_disconnect(&merged);
}

void run_child(MPI_Comm parent, int argc, char** argv) {
    CHECK(argc == 3 && std::strcmp(argv[1], "child") == 0);
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Comm_get_name(parent, name, &length);
    CHECK(std::strcmp(name, "MPI_COMM_PARENT") == 0);
    int* number = nullptr;
    int there = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &there);
    CHECK(there != 0 && *number == std::atoi(argv[2]));
    exchange_all(parent, false);
    MPI_Comm_disconnect(&parent);
    CHECK(parent == MPI_COMM_NULL);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
}

void all_start_two() {
    char word[] = "child";
    char number[] = "0";
    char* arguments[] = {word, number, nullptr};
    const int root = size_ - 1;
    const bool here = rank_ == root; // arguments significant at the root only
    MPI_Comm inter = MPI_COMM_NULL;
    int codes[2] = {-1, -1};
    CHECK(MPI_Comm_spawn(here ? program.c_str() : nullptr, here ? arguments : nullptr, here ? 2 : -1,
                         MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes) == MPI_SUCCESS);
    CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    exchange_all(inter, true);
    MPI_Comm_disconnect(&inter);
}

void one_starts_two_programs() {
    char word[] = "child";
    char number[2][2] = {"0", "1"};
    char* commands[] = {program.data(), program.data()};
    char* first[] = {word, number[0], nullptr};
    char* second[] = {word, number[1], nullptr};
    char** arguments[] = {first, second};
    const int processes[] = {1, 2};
    const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK(MPI_Comm_spawn_multiple(2, commands, arguments, processes, infos, 0, MPI_COMM_SELF, &inter,
                                  MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
    exchange_all(inter, true);
    MPI_Comm_disconnect(&inter);
}

// A program that does not use MPI ends without ever having connected.
void failing_spawns() {
    int code = MPI_SUCCESS;
    MPI_Comm inter = MPI_COMM_NULL;
    FAILS(MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                         rank_ == 0 ? &code : MPI_ERRCODES_IGNORE),
          MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL && (rank_ != 0 || code == MPI_ERR_SPAWN));
    FAILS(MPI_Comm_spawn(program.c_str(), MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                         MPI_ERRCODES_IGNORE),
          MPI_ERR_ARG);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    program = argv[0];
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        run_child(parent, argc, argv);
        MPI_Finalize();
        return 0;
    }
    all_start_two();
    if (rank_ == 0) one_starts_two_programs();
    failing_spawns();
    session.end("spawn");
    return 0;
}
