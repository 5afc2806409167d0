! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! The modules in which programs for Open MPI look for extensions; both are used next to the standard's module.
subroutine check_old
  use mpi
  use mpi_ext
  implicit none
  integer :: flag, ierror
  flag = 7
  call MPIX_Comm_agree(MPI_COMM_WORLD, flag, ierror)
  if (ierror /= MPI_SUCCESS .or. flag /= 7) stop 1
  if (MPIX_ERR_PROC_FAILED == MPIX_ERR_REVOKED) stop 2
end subroutine

program extensions
  use mpi_f08
  use mpi_f08_ext
  implicit none
  integer :: rank
  type(MPI_Comm) :: all
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPIX_Comm_shrink(MPI_COMM_WORLD, all)
  call MPI_Comm_free(all)
  call check_old()
  if (rank == 0) print '(a)', 'extensions: ok'
  call MPI_Finalize()
end program
