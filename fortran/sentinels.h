/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Variables of Fortran whose address means something. They are common blocks there, so that every program, module and
 * this library see one address. In C as well, since the code for descriptors is compiled by whoever has the compiler.
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
