// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// rebinding PHASES SECONDS: ranks exchange short messages with one partner, in the next phase with another
// one, then with a third, and again with the first. On two cores no placement suits all three. For each phase
// rank 0 prints the time until partners shared their CPUs, the number of exchanges, and whether the library
// knew at the end which ranks shared a core.
//
// rebinding remap: without rebinding by the launcher. After each phase of a few messages the program calls
// MPIX_Remap; then partners share their CPUs, and in the first phase not before.
#include "check.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>
#include <vector>

namespace {

bool shares_cpus_with(int partner) {
    cpu_set_t mine;
    cpu_set_t theirs;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, partner, 1, &theirs, sizeof theirs, MPI_BYTE, partner, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return CPU_COUNT(&mine) == 1 && CPU_EQUAL(&mine, &theirs);
}

std::vector<cpu_set_t> cpus_of_all(int ranks) {
    std::vector<cpu_set_t> all(static_cast<size_t>(ranks));
    cpu_set_t mine;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    return all;
}

// Number of ranks, this one included, on the CPU to which the kernel has bound this rank.
int count_on_cpu(const cpu_set_t& mine, const std::vector<cpu_set_t>& all) {
    int count = 0;
    for (const cpu_set_t& other : all) count += CPU_EQUAL(&mine, &other);
    return count;
}

// 1: the library's ranks per core agree with the kernel's binding; 0: they do not; -1: ranks are not bound.
// The launcher may be moving ranks: the result may change a moment later.
int localities_match() {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const std::vector<cpu_set_t> all = cpus_of_all(size);
    const cpu_set_t& mine = all[static_cast<size_t>(rank)];
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "core");
    MPI_Comm core = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &core);
    MPI_Info_free(&info);
    int known = 0;
    if (core != MPI_COMM_NULL) {
        MPI_Comm_size(core, &known);
        MPI_Comm_free(&core);
    }
    const bool bound = CPU_COUNT(&mine) == 1;
    int wrong = bound && known != count_on_cpu(mine, all);
    int some[2] = {wrong, bound};
    MPI_Allreduce(MPI_IN_PLACE, some, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return some[1] == 0 ? -1 : 1 - some[0];
}

int localities_converge() {
    int right = localities_match();
    for (int tries = 0; right == 0 && tries < 50; ++tries) {
        usleep(10000);
        right = localities_match();
    }
    return right;
}

void phase(int number, int partner, double seconds) {
    const double begin = MPI_Wtime();
    long exchanges = 0;
    double shared_after = -1;
    for (int over = 0; over == 0;) {
        for (int i = 0; i < 500; ++i, ++exchanges) {
            int in = 0;
            MPI_Sendrecv(&i, 1, MPI_INT, partner, 0, &in, 1, MPI_INT, partner, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            CHECK(in == i);
        }
        if (shares_cpus_with(partner) && shared_after < 0) shared_after = MPI_Wtime() - begin;
        int mine = MPI_Wtime() - begin >= seconds;
        int theirs = 0;
        MPI_Sendrecv(&mine, 1, MPI_INT, partner, 2, &theirs, 1, MPI_INT, partner, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        over = mine != 0 || theirs != 0;
    }
    double last = 0;
    double first = 0;
    long all = 0;
    MPI_Reduce(&shared_after, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&shared_after, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&exchanges, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    const int right = localities_converge();
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        std::printf("phase %d: shared %.2f exchanges %ld localities %d\n", number, first < 0 ? -1.0 : last,
                    all, right);
    std::fflush(stdout);
}

void remap_phase(int partner) {
    for (int i = 0; i < 2000; ++i) {
        int in = 0;
        MPI_Sendrecv(&i, 1, MPI_INT, partner, 0, &in, 1, MPI_INT, partner, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    CHECK(MPIX_Remap(MPI_COMM_WORLD) == MPI_SUCCESS);
    const double until = MPI_Wtime() + 10;
    int all = 0;
    while (all == 0 && MPI_Wtime() < until) {
        int mine = shares_cpus_with(partner) ? 1 : 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        usleep(20'000); // few messages: they count in the pattern of the next phase
    }
    CHECK(all == 1);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int phases = argc > 1 ? std::atoi(argv[1]) : 2;
    const double seconds = argc > 2 ? std::atof(argv[2]) : 5;
    const int partners[] = {rank ^ 1, (rank + size / 2) % size, rank ^ 2};
    CHECK(size % 4 == 0);
    if (argc > 1 && std::strcmp(argv[1], "remap") == 0) {
        CHECK(!shares_cpus_with(partners[0]));
        for (const int partner : partners) remap_phase(partner);
        if (rank == 0) std::printf("rebinding: ok\n");
        MPI_Finalize();
        return 0;
    }
    localities_converge(); // now the library has cached localities, which must be updated after a rebinding
    for (int p = 0; p < phases; ++p) phase(p, partners[p % 3], seconds);
    MPI_Finalize();
    return 0;
}
