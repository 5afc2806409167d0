// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions and variables that only the ABI of MPICH has.
#include "abi/mpi_abi.hpp"
#include "core/api/env.hpp"

namespace {
int unweighted;
int weights_empty;
int all_handles;
} // namespace

#pragma GCC visibility push(default)
extern "C" {

int* const MPI_UNWEIGHTED = &unweighted;
int* const MPI_WEIGHTS_EMPTY = &weights_empty;
const MPI_T_pvar_handle MPI_T_PVAR_ALL_HANDLES = reinterpret_cast<MPI_T_pvar_handle>(&all_handles);
// The Fortran library stores the addresses of its special values in the first two, and passes those of the
// objects.
MPI_Fint* MPI_F_STATUS_IGNORE = nullptr;
MPI_Fint* MPI_F_STATUSES_IGNORE = nullptr;
MPI_F08_status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
MPI_F08_status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
MPI_F08_status* MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
MPI_F08_status* MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
int MPIR_F08_MPI_BOTTOM;
int MPIR_F08_MPI_IN_PLACE;

int MPIR_Dup_fn(MPI_Comm, int, void*, void* in, void* out, int* flag) {
    *flag = 1;
    *static_cast<void**>(out) = in;
    return MPI_SUCCESS;
}

// The types are MPIX_GPU_SUPPORT_CUDA, _ZE and _HIP.
int PMPIX_GPU_query_support(int type, int* supported) {
    int (*const queries[])() = {zipmpi::core::query_cuda_support, zipmpi::core::query_ze_support,
                                zipmpi::core::query_hip_support};
    if (type < 0 || type > 2) return MPI_ERR_ARG;
    *supported = queries[type]();
    return MPI_SUCCESS;
}
int MPIX_GPU_query_support(int, int*) __attribute__((weak, alias("PMPIX_GPU_query_support")));

} // extern "C"
#pragma GCC visibility pop
