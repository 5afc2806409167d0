/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For programs that look for extensions in a header of their own, as Open MPI has one. All of them are declared in
 * mpi.h; the macros below are those that such programs test. */
#ifndef ZIPMPI_MPI_EXT_H
#define ZIPMPI_MPI_EXT_H

#include <mpi.h>

#define OMPI_HAVE_MPI_EXT 1

/* User Level Failure Mitigation */
#define OMPI_HAVE_MPI_EXT_FTMPI 1
#define OMPI_HAVE_MPIX_COMM_IAGREE 1
#define OMPI_HAVE_MPIX_COMM_ISHRINK 1

/* Nonblocking synchronization of windows, and fences of neighbors: MPIX_Win_ifence and others */
#define ZIPMPI_HAVE_NONBLOCKING_RMA_SYNC 1

/* The error classes as drafts of the standard call them */
#ifndef MPI_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED MPIX_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED_PENDING MPIX_ERR_PROC_FAILED_PENDING
#define MPI_ERR_REVOKED MPIX_ERR_REVOKED
#endif

#endif
