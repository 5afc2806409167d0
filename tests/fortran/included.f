! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! mpif.h in fixed form: a ring, reductions of two types through one name, deprecated attributes, a user-defined operation.
      program included
      implicit none
      include 'mpif.h'
      external add_up
      integer ierr, rank, size, right, left, token, got, op, n, key
      integer status(MPI_STATUS_SIZE), value
      integer reqs(2), stats(MPI_STATUS_SIZE, 2)
      double precision x, y, start
      logical flag
      real pair(2), best(2)

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      right = mod(rank + 1, size)
      left = mod(rank + size - 1, size)
      start = MPI_WTIME()
      token = 100 + rank
      call MPI_SENDRECV(token, 1, MPI_INTEGER, right, 7, got, 1,
     &    MPI_INTEGER, left, 7, MPI_COMM_WORLD, status, ierr)
      if (got .ne. 100 + left) stop 1
      if (status(MPI_SOURCE) .ne. left) stop 2
      if (status(MPI_TAG) .ne. 7) stop 3
      call MPI_GET_COUNT(status, MPI_INTEGER, n, ierr)
      if (n .ne. 1) stop 4
      call MPI_IRECV(y, 1, MPI_DOUBLE_PRECISION, left, 8,
     &    MPI_COMM_WORLD, reqs(1), ierr)
      x = rank
      call MPI_ISEND(x, 1, MPI_DOUBLE_PRECISION, right, 8,
     &    MPI_COMM_WORLD, reqs(2), ierr)
      call MPI_WAITALL(2, reqs, stats, ierr)
      if (y .ne. left .or. stats(MPI_SOURCE, 1) .ne. left) stop 5
      if (reqs(1) .ne. MPI_REQUEST_NULL) stop 6
      call MPI_ALLREDUCE(MPI_IN_PLACE, x, 1, MPI_DOUBLE_PRECISION,
     &    MPI_SUM, MPI_COMM_WORLD, ierr)
      if (x .ne. size * (size - 1) / 2) stop 7
      pair(1) = -rank
      pair(2) = rank
      call MPI_ALLREDUCE(pair, best, 1, MPI_2REAL, MPI_MINLOC,
     &    MPI_COMM_WORLD, ierr)
      if (best(2) .ne. size - 1) stop 8
      call MPI_OP_CREATE(add_up, .true., op, ierr)
      call MPI_ALLREDUCE(rank + 1, got, 1, MPI_INTEGER, op,
     &    MPI_COMM_WORLD, ierr)
      if (got .ne. size * (size + 1) / 2) stop 9
      call MPI_OP_FREE(op, ierr)
      if (op .ne. MPI_OP_NULL) stop 10
      call MPI_KEYVAL_CREATE(MPI_DUP_FN, MPI_NULL_DELETE_FN, key, 0,
     &    ierr)
      call MPI_ATTR_PUT(MPI_COMM_WORLD, key, -12, ierr)
      call MPI_ATTR_GET(MPI_COMM_WORLD, key, value, flag, ierr)
      if (.not. flag .or. value .ne. -12) stop 11
      call MPI_ATTR_GET(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
      if (.not. flag .or. value .lt. 32767) stop 12
      if (MPI_WTIME() .lt. start) stop 13
      if (rank .eq. 0) print '(a)', 'included: ok'
      call MPI_FINALIZE(ierr)
      end

      subroutine add_up(in, inout, n, datatype)
      include 'mpif.h'
      integer n, in(n), inout(n), datatype, i
      if (datatype .ne. MPI_INTEGER) stop 20
      do i = 1, n
        inout(i) = inout(i) + in(i)
      end do
      end
