// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Prints ok: the predefined objects of Open MPI's C++ interface that programs use, 2 ranks.
#include <cstdio>
#include <mpi.h>

static int failures;

static void check(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s does not hold\n", what);
    ++failures;
}

// Calls virtual functions of an object whose class the compiler does not know.
__attribute__((noinline)) static int size_of(const MPI::Datatype& type) { return type.Get_size(); }
__attribute__((noinline)) static int rank_in(const MPI::Comm& comm) { return comm.Get_rank(); }

int main(int argc, char** argv) {
    MPI::Init(argc, argv);
    const int rank = rank_in(MPI::COMM_WORLD);
    const int ranks = MPI::COMM_WORLD.Get_size();
    double value = rank + 0.5;
    MPI::COMM_WORLD.Allreduce(MPI::IN_PLACE, &value, 1, MPI::DOUBLE, MPI::MAX);
    check(value == ranks - 0.5, "maximum");
    check(size_of(MPI::INT) == 4 && size_of(MPI::LONG) == 8 && size_of(MPI::UNSIGNED) == 4,
          "sizes of integers");
    check(size_of(MPI::UNSIGNED_LONG) == 8 && size_of(MPI::FLOAT) == 4 && size_of(MPI::BYTE) == 1,
          "other sizes");
    check(static_cast<MPI_Datatype>(MPI::DATATYPE_NULL) == MPI_DATATYPE_NULL, "null datatype");
    check(static_cast<MPI_Comm>(MPI::COMM_NULL) == MPI_COMM_NULL, "null communicator");
    check(MPI::GROUP_EMPTY.Get_size() == 0, "empty group");
    MPI::Intracomm half = MPI::COMM_WORLD.Split(rank % 2, 0);
    check(half != MPI::COMM_NULL && half.Get_size() == (ranks + 1 - rank % 2) / 2, "split");
    half.Free();
    check(half == MPI::COMM_NULL, "freed communicator");
    MPI::COMM_WORLD.Barrier();
    MPI::Finalize();
    if (rank == 0 && failures == 0) std::puts("ok");
    return failures;
}
