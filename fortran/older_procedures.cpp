// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Procedures that MPI 3.0 removed, with INTEGER addresses, for the ABI of Open MPI. An address that does not
// fit is an error.
#include "fortran/convert.hpp"

#include <limits.h>

using namespace zipmpi::fortran;

namespace {

void store_integer(MPI_Aint value, int err, int* result, int* ierror) {
    if (err == MPI_SUCCESS && (value > INT_MAX || value < INT_MIN)) err = MPI_ERR_ARG;
    if (err == MPI_SUCCESS) *result = static_cast<int>(value);
    store_ierror(ierror, err);
}

void get_address(void* location, int* address, int* ierror) {
    MPI_Aint value = 0;
    const int err = PMPI_Get_address(c_buffer(location), &value);
    if (err == MPI_SUCCESS) *address = static_cast<int>(value); // programs use differences only
    store_ierror(ierror, err);
}

void get_extent(const int* type, int* extent, int* ierror) {
    MPI_Aint lower = 0;
    MPI_Aint value = 0;
    const int err = PMPI_Type_get_extent(c_handle<MPI_Datatype>(*type), &lower, &value);
    store_integer(value, err, extent, ierror);
}

void get_lower_bound(const int* type, int* bound, int* ierror) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    const int err = PMPI_Type_get_extent(c_handle<MPI_Datatype>(*type), &lower, &extent);
    store_integer(lower, err, bound, ierror);
}

void get_upper_bound(const int* type, int* bound, int* ierror) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    const int err = PMPI_Type_get_extent(c_handle<MPI_Datatype>(*type), &lower, &extent);
    store_integer(lower + extent, err, bound, ierror);
}

void make_vector(const int* count, const int* length, const int* stride, const int* type, int* made,
                 int* ierror) {
    MPI_Datatype result{};
    const int err =
        PMPI_Type_create_hvector(*count, *length, *stride, c_handle<MPI_Datatype>(*type), &result);
    if (err == MPI_SUCCESS) *made = f_handle(result);
    store_ierror(ierror, err);
}

// Displacements as addresses.
class Displacements {
  public:
    Displacements(const int* values, int count)
        : buffer_(count > 0 ? static_cast<size_t>(count) : 0) {
        for (int i = 0; i < count; i++) buffer_.data()[i] = values[i];
    }
    const MPI_Aint* data() { return buffer_.data(); }

  private:
    SmallBuffer<MPI_Aint, 32> buffer_;
};

void make_indexed(const int* count, const int* lengths, const int* displacements, const int* type, int* made,
                  int* ierror) {
    MPI_Datatype result{};
    Displacements at(displacements, *count);
    const int err =
        PMPI_Type_create_hindexed(*count, lengths, at.data(), c_handle<MPI_Datatype>(*type), &result);
    if (err == MPI_SUCCESS) *made = f_handle(result);
    store_ierror(ierror, err);
}

void make_struct(const int* count, const int* lengths, const int* displacements, const int* types, int* made,
                 int* ierror) {
    MPI_Datatype result{};
    Displacements at(displacements, *count);
    Handles<MPI_Datatype> c_types(types, *count);
    const int err = PMPI_Type_create_struct(*count, lengths, at.data(), c_types.data(), &result);
    if (err == MPI_SUCCESS) *made = f_handle(result);
    store_ierror(ierror, err);
}

} // namespace

extern "C" {

#define ZIPMPI_OLDER(lower, upper, parameters, call)                                                         \
    void mpi_##lower##_ parameters { call; }                                                                 \
    FUNCTION_ALIAS(mpi_##lower##_, mpi_##lower)                                                              \
    FUNCTION_ALIAS(mpi_##lower##_, mpi_##lower##__)                                                          \
    FUNCTION_ALIAS(mpi_##lower##_, MPI_##upper)                                                              \
    FUNCTION_ALIAS(mpi_##lower##_, pmpi_##lower)                                                             \
    FUNCTION_ALIAS(mpi_##lower##_, pmpi_##lower##_)                                                          \
    FUNCTION_ALIAS(mpi_##lower##_, pmpi_##lower##__)                                                         \
    FUNCTION_ALIAS(mpi_##lower##_, PMPI_##upper)

ZIPMPI_OLDER(address, ADDRESS, (void* location, int* address, int* ierror),
             get_address(location, address, ierror))
ZIPMPI_OLDER(type_extent, TYPE_EXTENT, (const int* type, int* extent, int* ierror),
             get_extent(type, extent, ierror))
ZIPMPI_OLDER(type_lb, TYPE_LB, (const int* type, int* bound, int* ierror),
             get_lower_bound(type, bound, ierror))
ZIPMPI_OLDER(type_ub, TYPE_UB, (const int* type, int* bound, int* ierror),
             get_upper_bound(type, bound, ierror))
ZIPMPI_OLDER(type_hvector, TYPE_HVECTOR,
             (const int* count, const int* length, const int* stride, const int* type, int* made,
              int* ierror),
             make_vector(count, length, stride, type, made, ierror))
ZIPMPI_OLDER(type_hindexed, TYPE_HINDEXED,
             (const int* count, const int* lengths, const int* displacements, const int* type, int* made,
              int* ierror),
             make_indexed(count, lengths, displacements, type, made, ierror))
ZIPMPI_OLDER(type_struct, TYPE_STRUCT,
             (const int* count, const int* lengths, const int* displacements, const int* types, int* made,
              int* ierror),
             make_struct(count, lengths, displacements, types, made, ierror))

void ompi_f_sync_reg_f(void*) {}
int mpi_fortran_buffer_automatic_; // not in this ABI

} // extern "C"
