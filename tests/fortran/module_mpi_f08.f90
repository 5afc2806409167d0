! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! Module mpi_f08: typed handles, optional ierror, statuses with fields, large counts through overloaded names, PMPI.
program module_mpi_f08
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  type(MPI_Comm) :: comm, other
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Datatype) :: pairs
  type(MPI_Info) :: info
  type(MPI_Win) :: win
  type(MPI_File) :: file
  type(MPI_Message) :: message
  type(c_ptr) :: memory, detached
  integer :: rank, ranks, n, ierr, position, f_status(MPI_STATUS_SIZE), version, subversion, length
  integer(MPI_COUNT_KIND) :: large
  integer(MPI_ADDRESS_KIND) :: lb, extent
  integer(MPI_OFFSET_KIND) :: file_size
  integer, pointer :: shared(:)
  integer, asynchronous :: sent(4), received(4)
  integer, target :: attached(1000)
  character(len=40) :: packed, file_name
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  logical :: flag
  real :: x(2, 2), y

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  other = comm
  call check(comm == other .and. comm /= MPI_COMM_WORLD .and. MPI_COMM_WORLD%MPI_VAL == 257, 'handles')
  call MPI_Get_processor_name(host, n)
  call check(len_trim(host) == n, 'processor name')

  sent = [1, 2, 3, 4] + 10 * rank
  call MPI_Irecv(received, 4, MPI_INTEGER, modulo(rank - 1, ranks), 5, comm, requests(1))
  call MPI_Isend(sent, 4, MPI_INTEGER, modulo(rank + 1, ranks), 5, comm, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call MPI_F_sync_reg(received)
  call check(received(4) == 4 + 10 * modulo(rank - 1, ranks), 'isend')
  call check(statuses(1)%MPI_TAG == 5 .and. statuses(1)%MPI_SOURCE == modulo(rank - 1, ranks), 'statuses')
  call check(requests(1) == MPI_REQUEST_NULL, 'null request')
  call MPI_Get_count(statuses(1), MPI_INTEGER, large)
  call check(large == 4, 'large count of a status')
  call MPI_Status_f082f(statuses(1), f_status)
  call check(f_status(MPI_TAG) == 5, 'status for the older modules')
  call MPI_Status_f2f08(f_status, status)
  call check(status%MPI_SOURCE == statuses(1)%MPI_SOURCE, 'status back')

  y = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, y, 1_MPI_COUNT_KIND, MPI_REAL, MPI_SUM, comm, ierr)
  call check(ierr == MPI_SUCCESS .and. y == ranks * (ranks + 1) / 2, 'allreduce with a large count')
  x = rank
  call PMPI_Bcast(x, size(x), MPI_REAL, 0, comm)
  call check(all(x == 0), 'bcast by its other name')

  call MPI_Isend(7, 1, MPI_INTEGER, rank, 1, comm, requests(1))
  call MPI_Mprobe(rank, 1, comm, message, MPI_STATUS_IGNORE)
  call MPI_Mrecv(n, 1, MPI_INTEGER, message, status)
  call check(n == 7 .and. message == MPI_MESSAGE_NULL, 'matched probe')
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call MPI_Waitall(0, requests, MPI_STATUSES_IGNORE)

  call MPI_Type_vector(2_MPI_COUNT_KIND, 1_MPI_COUNT_KIND, 2_MPI_COUNT_KIND, MPI_INTEGER, pairs)
  call MPI_Type_commit(pairs)
  call MPI_Type_get_extent(pairs, lb, extent)
  call check(extent == 12, 'extent')
  position = 0
  call MPI_Pack(sent, 1, pairs, packed, len(packed), position, comm)
  call check(position == 8, 'pack')
  call MPI_Pack_external_size('external32', 2, MPI_DOUBLE_PRECISION, extent)
  call check(extent == 16, 'text and number')
  extent = 0
  call MPI_Pack_external('external32', sent, 4, MPI_INTEGER, packed, int(len(packed), MPI_ADDRESS_KIND), extent)
  call check(extent == 16 .and. packed(4:4) == char(1 + 10 * rank), 'text and buffer by descriptor')
  call MPI_Type_free(pairs)

  call MPI_Buffer_attach(attached, 4000)
  call MPI_Bsend(sent, 4, MPI_INTEGER, rank, 9, comm)
  call MPI_Recv(received, 4, MPI_INTEGER, rank, 9, comm, MPI_STATUS_IGNORE)
  call MPI_Buffer_detach(detached, n)
  call check(c_associated(detached, c_loc(attached)) .and. n == 4000, 'detached buffer')

  call MPI_Win_allocate_shared(int(4, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, comm, memory, win)
  call c_f_pointer(memory, shared, [1])
  call MPI_Win_fence(0, win)
  call MPI_Put(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  call check(shared(1) == modulo(rank - 1, ranks), 'window')
  call MPI_Win_free(win)

  call MPI_Info_create(info)
  call MPI_Info_set(info, 'a key', 'value')
  length = 3
  call MPI_Info_get_string(info, 'a key', length, packed, flag)
  call check(flag .and. length == 5 .and. packed == 'val', 'a text that is cut')
  call MPI_Info_free(info)

  write (file_name, '(a, i0)') 'module_mpi_f08.data.', rank
  call MPI_File_open(MPI_COMM_SELF, file_name, ior(MPI_MODE_RDWR, ior(MPI_MODE_CREATE, MPI_MODE_DELETE_ON_CLOSE)), &
                     MPI_INFO_NULL, file)
  call MPI_File_write_at(file, 8_MPI_OFFSET_KIND, sent, 4, MPI_INTEGER, status)
  call MPI_File_get_size(file, file_size)
  call check(file_size == 24, 'file')
  call MPI_File_close(file)

  call MPI_Get_version(version, subversion)
  call check(version == MPI_VERSION .and. MPI_SUBARRAYS_SUPPORTED, 'version')
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
  call MPI_Recv(n, 1, MPI_INTEGER, ranks, 0, comm, MPI_STATUS_IGNORE, ierr)
  call check(ierr == MPI_ERR_RANK, 'error code')
  call MPI_Comm_free(comm)
  call check(comm == MPI_COMM_NULL, 'null communicator')
  if (rank == 0) print '(a)', 'module_mpi_f08: ok'
  call MPI_Finalize()

contains
  include 'check.inc'
end program
