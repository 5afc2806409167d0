// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/sentinels.h"

extern "C" { // alignment of common blocks in gfortran
alignas(32) int mpi_fortran_bottom_;
alignas(32) int mpi_fortran_in_place_;
alignas(32) int mpi_fortran_buffer_automatic_;
alignas(32) int mpi_fortran_errcodes_ignore_;
alignas(32) int mpi_fortran_unweighted_;
alignas(32) int mpi_fortran_weights_empty_;
alignas(32) int mpi_fortran_status_ignore_[8];
alignas(32) int mpi_fortran_statuses_ignore_[8];
alignas(32) char mpi_fortran_argv_null_;
alignas(32) char mpi_fortran_argvs_null_;
}
