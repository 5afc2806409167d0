// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ways for a rank to end, or to do something that must not be mistaken for its end. Rank 1 does it; the
// others continue with barriers until they are ended, or for the given number of rounds.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void barriers(int rounds) {
    for (int i = 0; i < rounds; ++i) MPI_Barrier(MPI_COMM_WORLD);
}

int fork_child(void (*leave)(int)) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) leave(0);
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

// Forks while messages are in flight: the exit of the child must not affect its parent.
int forks(int rank) {
    for (int i = 0; i < 20; ++i) {
        if (rank == 1 && (fork_child(std::exit) != 0 || fork_child(_exit) != 0)) return 1;
        barriers(10);
    }
    return 0;
}

// Calls MPI in children: each is refused, and this process is not affected.
int calls_in_children(int rank) {
    int value = 0;
    const auto ends_by = [](auto call) {
        const pid_t child = fork();
        if (child == 0) {
            call();
            _exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        return WIFEXITED(status) && WEXITSTATUS(status) == 1;
    };
    bool refused = true;
    if (rank == 1)
        refused = ends_by([&] { MPI_Comm_rank(MPI_COMM_WORLD, &value); }) &&
                  ends_by([&] { MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); }) &&
                  ends_by([&] { MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }) &&
                  ends_by([] { MPI_Barrier(MPI_COMM_WORLD); }) && ends_by([] { MPI_Finalize(); }) &&
                  ends_by([] { MPI_Abort(MPI_COMM_WORLD, 5); }) &&
                  ends_by([] { MPI_Init(nullptr, nullptr); });
    barriers(10);
    return refused ? 0 : 1;
}

// A program started by a rank must not inherit the library's descriptors.
int descriptors(int rank) {
    if (rank == 1)
        return std::system("test \"$(ls /proc/self/fd | wc -l)\" -le 4 || { ls -l /proc/self/fd; exit 1; }");
    return 0;
}

void end_abnormally(const std::string& how) {
    if (how == "exit0") std::exit(0);
    if (how == "exit3") std::exit(3);
    if (how == "quick3") _exit(3);
    if (how == "abort") std::abort();
    if (how == "throw") throw std::runtime_error("thrown on purpose");
    if (how == "mpi_abort") MPI_Abort(MPI_COMM_WORLD, 7);
}

} // namespace

int main(int argc, char** argv) {
    const std::string how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    barriers(3);
    int result = 0;
    if (how == "forks") {
        result = forks(rank);
    } else if (how == "calls_in_children") {
        result = calls_in_children(rank);
    } else if (how == "descriptors") {
        result = descriptors(rank);
    } else if (how == "time") { // a second and a half of barriers
        const double end = MPI_Wtime() + 1.5;
        for (int more = 1; more != 0;) {
            const int mine = static_cast<int>(rank != 0 || MPI_Wtime() < end);
            MPI_Allreduce(&mine, &more, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        }
    } else if (how == "all_abort") {
        MPI_Abort(MPI_COMM_WORLD, 7);
    } else if (how == "all_exit") {
        std::exit(0);
    } else {
        if (rank == 1) end_abnormally(how);
        barriers(1 << 30);
    }
    barriers(1);
    MPI_Finalize();
    return result;
}
