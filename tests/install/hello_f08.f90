! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! hello.c for the modules mpi_f08 and mpi.
subroutine count_ranks(n)
  use mpi
  implicit none
  integer, intent(out) :: n
  integer :: ierr
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
end subroutine

program hello
  use mpi_f08
  implicit none
  integer :: rank, ranks, values(4)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call count_ranks(ranks)
  values = rank
  call MPI_Allreduce(MPI_IN_PLACE, values(1:3:2), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (values(3) /= ranks * (ranks - 1) / 2) stop 1
  if (rank == 0) print '(a, i0, a)', 'hello from ', ranks, ' ranks'
end program
