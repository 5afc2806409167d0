// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `whole`: one message from rank 0 to rank 1 and an empty reply, us, on an otherwise idle network. Options:
// megabytes=64 size, times= repetitions in sequence; prints the median.
#include "../programs/sample.h"
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const size_t bytes = (size_t)(number_option(argc, argv, "megabytes", 8) * (1 << 20));
    int times = (int)number_option(argc, argv, "times", 3);
    if (times > max_sweeps) times = max_sweeps;
    char* const memory = touched_memory(bytes);
    double took[max_sweeps];
    for (int i = 0; i < times; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        if (rank == 0) {
            MPI_Send(memory, (int)bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(memory, (int)bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        }
        took[i] = MPI_Wtime() - begin;
    }
    if (rank == 0) report("whole", bytes, median(took, times) * 1e6, "us");
    free(memory);
    MPI_Finalize();
    return 0;
}
