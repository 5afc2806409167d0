// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// final_output_cpp fatal|MPI_Abort|exception: like final_output.c, with C++ streams that have separate
// buffers.
#include <iostream>
#include <mpi.h>
#include <stdexcept>
#include <string>

int main(int argc, char** argv) {
    std::ios::sync_with_stdio(false);
    const std::string way = argc > 1 ? argv[1] : "fatal";
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        std::cout << "last words\n";
        std::wclog << L"wide last words\n";
        if (way == "MPI_Abort") MPI_Abort(MPI_COMM_WORLD, 3);
        if (way == "fatal") MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
        std::cout.flush();
        throw std::runtime_error("uncaught exception");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
