! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! Module mpi: handles are integers; buffers of any type and rank are passed by address, so the
! compiler copies noncontiguous array sections.
module mpi
  use, intrinsic :: iso_c_binding, only: c_ptr
  use zipmpi_base
  implicit none
  private c_ptr
  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false.
  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .false.
  include 'f90_constants.inc'
  include 'f90_interfaces.inc'
  interface
    subroutine MPI_F_sync_reg(buf)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
!DEC$ ATTRIBUTES NO_ARG_CHECK :: buf
!DIR$ IGNORE_TKR buf
      type(*), dimension(*) :: buf
    end subroutine
    subroutine PMPI_F_sync_reg(buf)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
!DEC$ ATTRIBUTES NO_ARG_CHECK :: buf
!DIR$ IGNORE_TKR buf
      type(*), dimension(*) :: buf
    end subroutine
  end interface
end module
