! SPDX-FileCopyrightText: 2026 the ZipMPI authors
! SPDX-License-Identifier: BSD-3-Clause
!
! Module mpi_f08: typed handles, optional ierror, large counts by overloading, and buffers passed by
! descriptor, so that array sections need no copy.
module mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr
  use zipmpi_base
  implicit none
  private c_ptr
  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .true.
  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .true.
  include 'f08_constants.inc'
  include 'f08_callbacks.inc'
  include 'f08_interfaces.inc'
  interface MPI_F_sync_reg
    subroutine MPI_F_sync_reg_f08ts(buf) bind(C, name="mpi_f_sync_reg_f08ts_")
      type(*), dimension(..), asynchronous :: buf
    end subroutine
  end interface
  interface PMPI_F_sync_reg
    subroutine PMPI_F_sync_reg_f08ts(buf) bind(C, name="pmpi_f_sync_reg_f08ts_")
      type(*), dimension(..), asynchronous :: buf
    end subroutine
  end interface
end module
