/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A module that a program opens with RTLD_DEEPBIND: its predefined handles can have other addresses than
 * those of the program, which may have copies of them. */
#include "check.h"

#include <mpi.h>

static int rank;

/* Uses handles of the program and its own ones together; returns a handle that the program compares with its
 * own. */
MPI_Comm compute(MPI_Comm world, MPI_Datatype type, MPI_Op op) {
    int size = 0, ones = 1, sum = 0, result = -1;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(world, &size);
    MPI_Comm_compare(world, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_IDENT);
    MPI_Allreduce(&ones, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, op, world);
    CHECK(sum == size * size);
    MPI_Comm_dup(world, &comm);
    MPI_Comm_free(&comm);
    return comm;
}
