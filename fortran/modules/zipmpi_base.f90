! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! Common definitions of modules mpi and mpi_f08: kinds, integer constants, derived types, variables
! whose addresses are constants, and procedures that exist only in Fortran.
module zipmpi_base
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64, real128
  implicit none
  include 'base_constants.inc'
  include 'base_types.inc'

  type, bind(C) :: MPI_Status
    integer :: MPI_SOURCE
    integer :: MPI_TAG
    integer :: MPI_ERROR
    integer :: MPI_internal(5)
  end type

  interface MPI_Status_f2f08
    module procedure status_f2f08
  end interface
  interface MPI_Status_f082f
    module procedure status_f082f
  end interface
  interface PMPI_Status_f2f08
    module procedure status_f2f08
  end interface
  interface PMPI_Status_f082f
    module procedure status_f082f
  end interface
  interface MPI_Sizeof
    module procedure sizeof_character, sizeof_int8, sizeof_int16, sizeof_int32, sizeof_int64, sizeof_real32, &
      sizeof_real64, sizeof_real128, sizeof_complex32, sizeof_complex64, sizeof_complex128, sizeof_logical
  end interface
  interface PMPI_Sizeof
    module procedure sizeof_character, sizeof_int8, sizeof_int16, sizeof_int32, sizeof_int64, sizeof_real32, &
      sizeof_real64, sizeof_real128, sizeof_complex32, sizeof_complex64, sizeof_complex128, sizeof_logical
  end interface
  private int8, int16, int32, int64, real32, real64, real128, status_f2f08, status_f082f, store_size, &
    sizeof_character, sizeof_int8, sizeof_int16, sizeof_int32, sizeof_int64, sizeof_real32, sizeof_real64, &
    sizeof_real128, sizeof_complex32, sizeof_complex64, sizeof_complex128, sizeof_logical

contains
  include 'base_comparisons.inc'

  subroutine status_f2f08(f_status, f08_status, ierror)
    integer, intent(in) :: f_status(MPI_STATUS_SIZE)
    type(MPI_Status), intent(out) :: f08_status
    integer, optional, intent(out) :: ierror
    f08_status = transfer(f_status, f08_status)
    if (present(ierror)) ierror = MPI_SUCCESS
  end subroutine

  subroutine status_f082f(f08_status, f_status, ierror)
    type(MPI_Status), intent(in) :: f08_status
    integer, intent(out) :: f_status(MPI_STATUS_SIZE)
    integer, optional, intent(out) :: ierror
    f_status = transfer(f08_status, f_status)
    if (present(ierror)) ierror = MPI_SUCCESS
  end subroutine

  subroutine store_size(bits, size, ierror)
    integer, intent(in) :: bits
    integer, intent(out) :: size
    integer, optional, intent(out) :: ierror
    size = bits / 8
    if (present(ierror)) ierror = MPI_SUCCESS
  end subroutine

  include 'base_sizes.inc'
end module
