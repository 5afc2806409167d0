/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Fortran variables whose addresses are constants. They are common blocks in Fortran, so that programs, modules and
 * this library see one address. Valid as C, because the descriptor code is compiled for each Fortran compiler.
 */
#ifndef ZIPMPI_FORTRAN_SENTINELS_H
#define ZIPMPI_FORTRAN_SENTINELS_H

#ifdef __cplusplus
extern "C" {
#endif

extern int mpi_fortran_bottom_;
extern int mpi_fortran_in_place_;
extern int mpi_fortran_buffer_automatic_;
extern int mpi_fortran_errcodes_ignore_;
extern int mpi_fortran_unweighted_;
extern int mpi_fortran_weights_empty_;
extern int mpi_fortran_status_ignore_[8];
extern int mpi_fortran_statuses_ignore_[8];
extern char mpi_fortran_argv_null_;
extern char mpi_fortran_argvs_null_;

#ifdef __cplusplus
}
#endif

#endif
