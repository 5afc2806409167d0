! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! hello.c for mpif.h.
      program hello
      implicit none
      include 'mpif.h'
      integer ierr, rank, size, total
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      call MPI_ALLREDUCE(rank, total, 1, MPI_INTEGER, MPI_SUM,
     &    MPI_COMM_WORLD, ierr)
      call MPI_FINALIZE(ierr)
      if (total .ne. size * (size - 1) / 2) stop 1
      if (rank .eq. 0) print '(a,i0,a)', 'hello from ', size, ' ranks'
      end
