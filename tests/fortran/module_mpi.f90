! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! Module mpi: texts, indices from one, special addresses, arrays of handles, memory from MPI, errors.
program module_mpi
  use mpi
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: ierr, rank, ranks, comm, info, length, index, count, i, group, newtype, win, dup
  integer :: requests(3), indices(3), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 3), values(3), kinds(2), lengths(2)
  integer(MPI_ADDRESS_KIND) :: places(2), extent, lb, attribute
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=20) :: value
  character(len=MPI_MAX_ERROR_STRING) :: text
  logical :: flag, periods(2)
  integer :: dims(2), coords(2)
  real :: matrix(4, 6), square(2, 3)
  type(c_ptr) :: memory
  double precision, pointer :: numbers(:)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)

  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Comm_set_name(comm, 'a name   ', ierr)
  name = repeat('x', len(name))
  call MPI_Comm_get_name(comm, name, length, ierr)
  call check(name == 'a name' .and. length == 6, 'name')

  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, '  key ', ' a value ', ierr)
  call MPI_Info_get(info, 'key', len(value), value, flag, ierr)
  call check(flag .and. value == 'a value', 'info_get')
  value = 'as before'
  call MPI_Info_get(info, 'no key', len(value), value, flag, ierr)
  call check(.not. flag .and. value == 'as before', 'info_get without key')
  length = len(value)
  call MPI_Info_get_string(info, 'key', length, value, flag, ierr)
  call check(flag .and. value == 'a value' .and. length == 7, 'info_get_string')
  call MPI_Info_free(info, ierr)
  call check(info == MPI_INFO_NULL, 'info_free')

  do i = 1, 3
    call MPI_Irecv(values(i), 1, MPI_INTEGER, rank, i, comm, requests(i), ierr)
  end do
  call MPI_Send(42, 1, MPI_INTEGER, rank, 2, comm, ierr)
  call MPI_Waitany(3, requests, index, status, ierr)
  call check(index == 2 .and. values(2) == 42 .and. requests(2) == MPI_REQUEST_NULL, 'waitany')
  call check(status(MPI_TAG) == 2, 'status of waitany')
  call MPI_Send(43, 1, MPI_INTEGER, rank, 3, comm, ierr)
  call MPI_Waitsome(3, requests, count, indices, statuses, ierr)
  call check(count == 1 .and. indices(1) == 3 .and. statuses(MPI_TAG, 1) == 3, 'waitsome')
  call MPI_Testany(3, requests, index, flag, MPI_STATUS_IGNORE, ierr)
  call check(.not. flag .and. index == MPI_UNDEFINED, 'testany')
  call MPI_Send(44, 1, MPI_INTEGER, rank, 1, comm, ierr)
  call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierr)
  call check(all(requests == MPI_REQUEST_NULL) .and. values(1) == 44, 'waitall')

  dims = 0
  call MPI_Dims_create(ranks, 2, dims, ierr)
  call MPI_Cart_create(comm, 2, dims, [.true., .false.], .false., dup, ierr)
  call MPI_Cart_get(dup, 2, dims, periods, coords, ierr)
  call check(periods(1) .and. .not. periods(2), 'logical arrays')
  call MPI_Comm_free(dup, ierr)
  call MPI_Comm_group(comm, group, ierr)
  call MPI_Group_range_incl(group, 1, reshape([0, ranks - 1, 1], [3, 1]), dup, ierr)
  call MPI_Group_size(dup, count, ierr)
  call check(count == ranks, 'ranges')

  lengths = 1
  kinds = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
  places = [0, 8]
  call MPI_Type_create_struct(2, lengths, places, kinds, newtype, ierr)
  call MPI_Type_get_extent(newtype, lb, extent, ierr)
  call check(extent == 16, 'struct')
  call MPI_Type_free(newtype, ierr)

  matrix = reshape([(real(i), i = 1, 24)], [4, 6])
  call MPI_Sendrecv(matrix(1:4:3, 1:6:2), 6, MPI_REAL, rank, 0, square, 6, MPI_REAL, rank, 0, comm, MPI_STATUS_IGNORE, ierr)
  call check(all(square == matrix(1:4:3, 1:6:2)), 'a section, copied by the compiler')

  call MPI_Win_allocate(80_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, comm, memory, win, ierr)
  call c_f_pointer(memory, numbers, [10])
  numbers = rank
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, attribute, flag, ierr)
  call check(flag .and. attribute == 80, 'size of a window')
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, attribute, flag, ierr)
  call check(flag .and. attribute == 8, 'unit of a window')
  call MPI_Win_free(win, ierr)

  call MPI_Sizeof(matrix, length, ierr)
  call check(length == 4, 'sizeof')
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
  call MPI_Send(1, 1, MPI_INTEGER, ranks, 0, comm, ierr)
  call check(ierr == MPI_ERR_RANK, 'error code')
  call MPI_Error_string(MPI_ERR_RANK, text, length, ierr)
  call check(length > 0 .and. text(length + 1:) == ' ', 'error string')
  call MPI_Comm_free(comm, ierr)
  if (rank == 0) print '(a)', 'module_mpi: ok'
  call MPI_Finalize(ierr)

contains
  include 'check.inc'
end program
