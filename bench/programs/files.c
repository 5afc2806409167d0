// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collective writes and reads of one file: one long block per rank, or blocks round robin. Prints MB/s of all
// ranks together, the best of the rounds. Uses only mpi.h, so that any MPI can run it. usage: files FILE
// BYTES_PER_RANK BLOCK... (block 0: one per rank)
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 7 };

static int rank, size;

static void set_view(MPI_File fh, int block, long bytes) {
    const MPI_Offset start = (MPI_Offset)rank * (block == 0 ? bytes : block);
    MPI_Datatype one, view_type;
    if (block == 0) {
        MPI_File_set_view(fh, start, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        return;
    }
    MPI_Type_contiguous(block, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, (MPI_Aint)size * block, &view_type);
    MPI_Type_commit(&view_type);
    MPI_File_set_view(fh, start, MPI_BYTE, view_type, "native", MPI_INFO_NULL);
    MPI_Type_free(&one);
    MPI_Type_free(&view_type);
}

static double timed(MPI_File fh, int writes, char* data, long bytes) {
    double best = 1e9;
    for (int i = 0; i < rounds; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        const int code = writes ? MPI_File_write_at_all(fh, 0, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                                : MPI_File_read_at_all(fh, 0, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
        double took = MPI_Wtime() - start, slowest;
        MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (slowest < best) best = slowest;
    }
    return best;
}

static void run(const char* name, int block, long bytes, char* data) {
    MPI_File fh;
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &fh) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    set_view(fh, block, bytes);
    memset(data, rank + 1, (size_t)bytes);
    const double all = (double)bytes * size / 1e6;
    const double write_time = timed(fh, 1, data, bytes);
    memset(data, 0, (size_t)bytes);
    const double read_time = timed(fh, 0, data, bytes);
    for (long i = 0; i < bytes; ++i)
        if (data[i] != rank + 1) MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0)
        printf("files_write %d %.0f MB/s\nfiles_read %d %.0f MB/s\n", block, all / write_time, block,
               all / read_time);
    MPI_File_close(&fh);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 3);
    const long bytes = atol(argv[2]);
    char* const data = malloc((size_t)bytes);
    for (int i = 3; i < argc; ++i) run(argv[1], atoi(argv[i]), bytes, data);
    free(data);
    MPI_Finalize();
    return 0;
}
