! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! Module mpi_ext: for programs that look for extensions in a module of their own, as Open MPI has one.
! All of them are in module mpi.
module mpi_ext
  use mpi
end module
