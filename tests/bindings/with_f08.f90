! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! Prints ok: Fortran with module mpi_f08 of another MPI library, 2 ranks.
program with_f08
    use mpi_f08
    implicit none
    integer :: rank, ranks, i
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: statuses(2)
    type(MPI_Comm) :: made
    double precision :: a(4), b(4)
    character(len=MPI_MAX_OBJECT_NAME) :: text

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    a = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, a, 4, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    call check(all(a == ranks), 'in place')
    call MPI_Irecv(b, 4, MPI_REAL8, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(a, 4, MPI_REAL8, mod(rank + 1, ranks), 3, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    call check(statuses(1)%MPI_SOURCE == mod(rank + ranks - 1, ranks) .and. statuses(1)%MPI_TAG == 3, 'status')
    call MPI_Comm_dup(MPI_COMM_WORLD, made)
    call MPI_Comm_set_name(made, 'name of a copy')
    call MPI_Comm_get_name(made, text, i)
    call check(text(1:i) == 'name of a copy', 'name')
    call MPI_Comm_free(made)
    call check(made == MPI_COMM_NULL, 'null communicator')
    call MPI_Recv(a, 4, MPI_REAL8, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Finalize()
    if (rank == 0) print *, 'ok'

contains

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(len=*), intent(in) :: what
        if (holds) return
        print *, what, ' does not hold'
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine
end program
