! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! Prints ok: Fortran with module mpi of another MPI library, 2 ranks.
program with_mpi
    use mpi
    implicit none
    integer :: ierr, rank, ranks, i, requests(2), statuses(MPI_STATUS_SIZE, 2), made, operation, keyval, total
    integer(MPI_ADDRESS_KIND) :: value, extent, lower, displacements(3)
    logical :: flag
    real(16) :: quad
    complex(16) :: pair
    double precision :: a(4), b(4)
    character(len=MPI_MAX_OBJECT_NAME) :: text
    external :: add

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    a = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, a, 4, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call check(all(a == ranks), 'in place')
    quad = 1 + 2 * epsilon(quad) * rank
    call MPI_Allreduce(MPI_IN_PLACE, quad, 1, MPI_REAL16, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(quad == ranks + 2 * epsilon(quad) * (ranks * (ranks - 1) / 2), 'MPI_REAL16')
    pair = (0.0_16, 1.0_16)
    call MPI_Allreduce(MPI_IN_PLACE, pair, 1, MPI_COMPLEX32, MPI_PROD, MPI_COMM_WORLD, ierr)
    call check(pair == (0.0_16, 1.0_16)**ranks, 'MPI_COMPLEX32')
    call MPI_Irecv(b, 4, MPI_REAL8, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(a, 4, MPI_REAL8, mod(rank + 1, ranks), 3, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, statuses, ierr)
    call check(statuses(MPI_SOURCE, 1) == mod(rank + ranks - 1, ranks) .and. statuses(MPI_TAG, 1) == 3, 'status')
    call check(all(requests == MPI_REQUEST_NULL), 'null requests')
    call MPI_Get_count(statuses(:, 1), MPI_DOUBLE_PRECISION, i, ierr)
    call check(i == 4, 'count')
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, made, ierr)
    call MPI_Type_get_extent(made, lower, extent, ierr)
    call check(extent == 12, 'extent')
    call MPI_Type_free(made, ierr)
    call check(made == MPI_DATATYPE_NULL, 'null datatype')
    displacements = [-4, 0, 24]
    call MPI_Type_create_struct(3, [1, 1, 1], displacements, [MPI_LB, MPI_REAL8, MPI_UB], made, ierr)
    call MPI_Type_get_extent(made, lower, extent, ierr)
    call check(lower == -4 .and. extent == 28, 'markers')
    call MPI_Type_free(made, ierr)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
    call check(flag .and. value >= 32767, 'predefined attribute')
    call MPI_Op_create(add, .true., operation, ierr)
    i = rank
    call sum_integers(i, total, operation)
    call check(total == ranks * (ranks - 1) / 2, 'operation')
    call MPI_Comm_get_name(MPI_COMM_WORLD, text, i, ierr)
    call check(text(1:i) == 'MPI_COMM_WORLD', 'name')
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, 42_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, made, ierr)
    call MPI_Comm_get_attr(made, keyval, value, flag, ierr)
    call check(flag .and. value == 42, 'copied attribute')
    call MPI_Comm_free(made, ierr)
    call check(made == MPI_COMM_NULL, 'null communicator')
    call MPI_Recv(a, 4, MPI_REAL8, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Finalize(ierr)
    if (rank == 0) print *, 'ok'

contains

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(len=*), intent(in) :: what
        if (holds) return
        print *, what, ' does not hold'
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine
end program

subroutine sum_integers(value, total, operation)
    use mpi
    implicit none
    integer :: value, total, operation, ierr
    call MPI_Allreduce(value, total, 1, MPI_INTEGER, operation, MPI_COMM_WORLD, ierr)
end subroutine

subroutine add(in, inout, length, datatype)
    implicit none
    integer :: length, datatype, in(length), inout(length)
    inout = inout + in
end subroutine
