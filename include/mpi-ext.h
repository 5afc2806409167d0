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

/* MPIX_Remap */
#define ZIPMPI_HAVE_REMAP 1

/* Buffers in device memory. The macros tell what the library can do, the functions whether this process can use it:
 * MPIX_Query_cuda_support, MPIX_Query_hip_support, MPIX_Query_ze_support */
#define OMPI_HAVE_MPI_EXT_CUDA 1
#define OMPI_HAVE_MPI_EXT_ROCM 1
#define MPIX_CUDA_AWARE_SUPPORT 1
#define MPIX_ROCM_AWARE_SUPPORT 1
#define MPIX_Query_rocm_support MPIX_Query_hip_support

/* The error classes as drafts of the standard call them */
#ifndef MPI_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED MPIX_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED_PENDING MPIX_ERR_PROC_FAILED_PENDING
#define MPI_ERR_REVOKED MPIX_ERR_REVOKED
#endif

#endif
