/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * CHECK(condition) ends the job with a message if the condition does not hold. The program defines `rank`. */
#ifndef BINDINGS_CHECK_H
#define BINDINGS_CHECK_H

#include <mpi.h>
#include <stdio.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: rank %d: %s does not hold\n", __FILE__, __LINE__, rank, #condition);     \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                    \
        }                                                                                                    \
    } while (0)

#endif
