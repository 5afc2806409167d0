! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! User-defined procedures that MPI calls: operations, attributes, error handlers, generalized requests, data representations.
module called
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: copied = 0, deleted = 0, errors = 0, freed = 0, canceled = 0

contains
  subroutine larger(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    if (datatype /= MPI_INTEGER) call MPI_Abort(MPI_COMM_WORLD, 2)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = max(a, b)
  end subroutine

  subroutine smaller_c(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = min(a, b)
  end subroutine

  subroutine copy_attribute(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copied = copied + 1
    attribute_val_out = attribute_val_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_attribute(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (extra_state == 1000) deleted = deleted + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine on_error(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    if (comm == MPI_COMM_SELF .and. error_code == MPI_ERR_RANK) errors = errors + 1
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    status%MPI_SOURCE = int(extra_state)
    status%MPI_TAG = 3
    call MPI_Status_set_cancelled(status, .false.)
    call MPI_Status_set_elements(status, MPI_INTEGER, 5)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine free_request(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    freed = freed + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (.not. complete) canceled = canceled + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent(datatype, file_extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: file_extent, extra_state
    integer :: ierror
    file_extent = extra_state
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use called
  implicit none
  type(MPI_Op) :: op
  type(MPI_Comm) :: comm
  type(MPI_Errhandler) :: handler
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  integer :: rank, ranks, value, keyval, ierr, n
  integer(MPI_ADDRESS_KIND) :: attribute
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Op_create(larger, .true., op)
  call MPI_Allreduce(rank, value, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  call check(value == ranks - 1, 'operation')
  call MPI_Op_free(op)
  call MPI_Op_create_c(smaller_c, .true., op)
  call MPI_Allreduce(rank + 5, value, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  call check(value == 5, 'operation with large counts')
  call MPI_Op_free(op)

  call MPI_Comm_create_keyval(copy_attribute, delete_attribute, keyval, 1000_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, -5000000000_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(MPI_COMM_SELF, comm)
  call MPI_Comm_get_attr(comm, keyval, attribute, flag)
  call check(flag .and. attribute == -4999999000_MPI_ADDRESS_KIND .and. copied == 1, 'copied attribute')
  call MPI_Comm_free(comm)
  call check(deleted == 1, 'deleted attribute')
  call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval)
  call MPI_Comm_free_keyval(keyval)
  call check(deleted == 2 .and. keyval == MPI_KEYVAL_INVALID, 'freed keyval')
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 77_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(MPI_COMM_SELF, comm)
  call MPI_Comm_get_attr(comm, keyval, attribute, flag)
  call check(flag .and. attribute == 77, 'attribute copied by MPI')
  call MPI_Comm_free(comm)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, attribute, flag)
  call check(flag .and. attribute >= 32767, 'attribute of MPI')

  call MPI_Comm_create_errhandler(on_error, handler)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler)
  call MPI_Errhandler_free(handler)
  call MPI_Send(1, 1, MPI_INTEGER, 1, 0, MPI_COMM_SELF, ierr)
  call check(errors == 1 .and. ierr == MPI_ERR_RANK, 'error handler')

  call MPI_Grequest_start(query, free_request, cancel, 12_MPI_ADDRESS_KIND, request)
  call MPI_Cancel(request)
  call MPI_Grequest_complete(request)
  call MPI_Wait(request, status)
  call MPI_Get_count(status, MPI_INTEGER, n)
  call check(status%MPI_SOURCE == 12 .and. status%MPI_TAG == 3 .and. n == 5, 'status of a generalized request')
  call check(freed == 1 .and. canceled == 1, 'free and cancel')

  call MPI_Register_datarep('test', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, 8_MPI_ADDRESS_KIND, ierr)
  call check(ierr == MPI_SUCCESS, 'data representation')
  if (rank == 0) print '(a)', 'callbacks: ok'
  call MPI_Finalize()

contains
  include 'check.inc'
end program
