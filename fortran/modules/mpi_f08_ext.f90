! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! Module mpi_f08_ext: for programs that look for extensions in a module of their own, as Open MPI has one.
! All of them are in module mpi_f08.
module mpi_f08_ext
  use mpi_f08
end module
