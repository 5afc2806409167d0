! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! Noncontiguous array sections as buffers of mpi_f08, without copies by the compiler, also in nonblocking calls.
program sections
  use mpi_f08
  implicit none
  integer :: rank, ranks, i, next, before, ierr
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  integer, asynchronous :: cube(4, 5, 6), target(4, 5, 6), line(40), flat(24), sums(10)
  complex :: waves(6), seen(3)
  integer, allocatable :: gathered(:, :)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = modulo(rank + 1, ranks)
  before = modulo(rank - 1, ranks)
  cube = reshape([(i, i = 1, size(cube))], shape(cube))

  ! three noncontiguous dimensions, received into others
  target = 0
  call MPI_Irecv(target(2:4, 1:5:2, ::3), 18, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(cube(1:3, ::2, 2:5:3), 18, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call check(all(target(2:4, 1:5:2, ::3) == cube(1:3, ::2, 2:5:3)), 'three dimensions')
  call check(sum(target) == sum(cube(1:3, ::2, 2:5:3)), 'nothing beside it')

  ! fewer elements than the section has; reversed
  flat = 0
  call MPI_Sendrecv(cube(::2, :, 3), 7, MPI_INTEGER, next, 2, flat, 24, MPI_INTEGER, before, 2, MPI_COMM_WORLD, status)
  call check(all(flat(1:7) == [cube(1, 1, 3), cube(3, 1, 3), cube(1, 2, 3), cube(3, 2, 3), cube(1, 3, 3), cube(3, 3, 3), &
                               cube(1, 4, 3)]) .and. all(flat(8:) == 0), 'a part of a section')
  line = [(i, i = 1, size(line))]
  call MPI_Sendrecv(line(10:1:-1), 10, MPI_INTEGER, next, 3, flat, 24, MPI_INTEGER, before, 3, MPI_COMM_WORLD, status)
  call check(all(flat(1:10) == line(10:1:-1)), 'backwards')

  ! elements of several units, and the reverse
  waves = [(cmplx(i, -i), i = 1, 6)]
  seen = 0
  call MPI_Sendrecv(waves(::2), 6, MPI_REAL, next, 4, seen, 3, MPI_COMPLEX, before, 4, MPI_COMM_WORLD, status)
  call check(all(seen == waves(::2)), 'units of elements')

  ! reductions cannot use a datatype for the section: copied
  sums = 0
  call MPI_Allreduce(line(1:9:2), sums(2:10:2), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(all(sums(2:10:2) == ranks * line(1:9:2)) .and. all(sums(1:9:2) == 0), 'allreduce')

  ! several messages in one buffer
  allocate(gathered(6, ranks))
  gathered = 0
  call MPI_Allgather(cube(1, 1:3, 1), 3, MPI_INTEGER, gathered(::2, :), 3, MPI_INTEGER, MPI_COMM_WORLD)
  call check(all(gathered(::2, ranks) == cube(1, 1:3, 1)) .and. all(gathered(2::2, :) == 0), 'allgather')
  gathered = 0
  call MPI_Allgather(cube(1, 1:3, 1), 3, MPI_INTEGER, gathered(1:3, :), 3, MPI_INTEGER, MPI_COMM_WORLD)
  call check(all(gathered(1:3, ranks) == cube(1, 1:3, 1)) .and. all(gathered(4:, :) == 0), 'allgather, copied')

  ! sections that can be neither described nor copied are rejected
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Iallgather(cube(1, 1:3, 1), 3, MPI_INTEGER, gathered(1:3, :), 3, MPI_INTEGER, MPI_COMM_WORLD, requests(1), ierr)
  call check(ierr == MPI_ERR_BUFFER, 'refused')
  if (rank == 0) print '(a)', 'sections: ok'
  call MPI_Finalize()

contains
  include 'check.inc'
end program
