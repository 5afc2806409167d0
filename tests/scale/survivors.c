// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: survivors SHARE SECONDS
// A tenth of the ranks (SHARE 10: those with rank % 10 == 9) waits to be killed, the others wait in a
// barrier. Rank 0 prints "ranks N" when all run. If the job goes on without the killed ranks (mpiexec
// --keep-going), the others revoke the communicator, agree and shrink it, check an allreduce, and rank 0
// prints what that took, from the first error on. Ranks that are not killed end after SECONDS.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void check(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "survivors: wrong result of %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

// The agreement fails while failures are unacknowledged, alike on all survivors.
static void agree(MPI_Comm comm) {
    int flag = 1;
    while (MPIX_Comm_agree(comm, &flag) != MPI_SUCCESS) MPIX_Comm_failure_ack(comm);
    check(flag == 1, "MPIX_Comm_agree");
}

static void recover(int rank) {
    int survivors = 0;
    long sum = 1;
    MPI_Comm rest = MPI_COMM_NULL;
    const double begin = MPI_Wtime();
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    agree(MPI_COMM_WORLD);
    const double agreed = MPI_Wtime();
    check(MPIX_Comm_shrink(MPI_COMM_WORLD, &rest) == MPI_SUCCESS, "MPIX_Comm_shrink");
    MPI_Comm_size(rest, &survivors);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, rest);
    check(sum == survivors, "MPI_Allreduce");
    if (rank == 0) {
        printf("survivors %d agree_ms %.1f shrink_ms %.1f\n", survivors, (agreed - begin) * 1e3,
               (MPI_Wtime() - agreed) * 1e3);
        fflush(stdout);
    }
    MPI_Comm_free(&rest);
}

int main(int argc, char** argv) {
    const int share = argc > 1 ? atoi(argv[1]) : 10;
    const unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 60;
    int rank = 0;
    int size = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ranks %d\n", size);
        fflush(stdout);
    }
    alarm(seconds);
    if (rank % share == share - 1) sleep(seconds);
    if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS) recover(rank);
    MPI_Finalize();
    return 0;
}
