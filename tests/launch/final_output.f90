! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! final_output_f90 fatal|MPI_Abort FILE: like final_output.c, on the screen and in a file.
program final_output
   use mpi
   implicit none
   character(len=1000) :: way, file
   integer :: rank, error
   call get_command_argument(1, way)
   call get_command_argument(2, file)
   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   if (rank == 0) then
      open (unit=10, file=trim(file), status='replace')
      write (10, '(a)') 'last words'
      write (*, '(a)') 'last words'
      if (way == 'MPI_Abort') call MPI_Abort(MPI_COMM_WORLD, 3, error)
      call MPI_Send(rank, 1, MPI_INTEGER, 99, 0, MPI_COMM_WORLD, error)
   end if
   call MPI_Barrier(MPI_COMM_WORLD, error)
   call MPI_Finalize(error)
end program final_output
