// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Procedures that only the ABI of Open MPI has: those that MPI 3.0 removed, with INTEGER addresses (one that
// does not fit is an error), and conversions between statuses, which are equal in modules mpi and mpi_f08.
#include "fortran/convert.hpp"

#include <cstring>
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

void copy_status(const int* from, int* to, int* ierror) {
    std::memcpy(to, from, sizeof(MPI_Status));
    store_ierror(ierror, MPI_SUCCESS);
}

} // namespace

extern "C" {

#define ZIPMPI_FORMS(of, lower, upper, mixed)                                                                \
    FUNCTION_ALIAS(of, mpi_##lower)                                                                          \
    FUNCTION_ALIAS(of, mpi_##lower##__)                                                                      \
    FUNCTION_ALIAS(of, MPI_##upper)                                                                          \
    FUNCTION_ALIAS(of, MPI_##mixed##_f)                                                                      \
    FUNCTION_ALIAS(of, MPI_##mixed##_f08)                                                                    \
    FUNCTION_ALIAS(of, pmpi_##lower)                                                                         \
    FUNCTION_ALIAS(of, pmpi_##lower##__)                                                                     \
    FUNCTION_ALIAS(of, PMPI_##upper)                                                                         \
    FUNCTION_ALIAS(of, PMPI_##mixed##_f)                                                                     \
    FUNCTION_ALIAS(of, PMPI_##mixed##_f08)

#define ZIPMPI_PROCEDURE(lower, upper, mixed, parameters, call)                                              \
    void mpi_##lower##_ parameters { call; }                                                                 \
    FUNCTION_ALIAS(mpi_##lower##_, pmpi_##lower##_)                                                          \
    FUNCTION_ALIAS(mpi_##lower##_, ompi_##lower##_f)                                                         \
    ZIPMPI_FORMS(mpi_##lower##_, lower, upper, mixed)

ZIPMPI_PROCEDURE(address, ADDRESS, Address, (void* location, int* address, int* ierror),
                 get_address(location, address, ierror))
ZIPMPI_PROCEDURE(type_extent, TYPE_EXTENT, Type_extent, (const int* type, int* extent, int* ierror),
                 get_extent(type, extent, ierror))
ZIPMPI_PROCEDURE(type_lb, TYPE_LB, Type_lb, (const int* type, int* bound, int* ierror),
                 get_lower_bound(type, bound, ierror))
ZIPMPI_PROCEDURE(type_ub, TYPE_UB, Type_ub, (const int* type, int* bound, int* ierror),
                 get_upper_bound(type, bound, ierror))
ZIPMPI_PROCEDURE(type_hvector, TYPE_HVECTOR, Type_hvector,
                 (const int* count, const int* length, const int* stride, const int* type, int* made,
                  int* ierror),
                 make_vector(count, length, stride, type, made, ierror))
ZIPMPI_PROCEDURE(type_hindexed, TYPE_HINDEXED, Type_hindexed,
                 (const int* count, const int* lengths, const int* displacements, const int* type, int* made,
                  int* ierror),
                 make_indexed(count, lengths, displacements, type, made, ierror))
ZIPMPI_PROCEDURE(type_struct, TYPE_STRUCT, Type_struct,
                 (const int* count, const int* lengths, const int* displacements, const int* types, int* made,
                  int* ierror),
                 make_struct(count, lengths, displacements, types, made, ierror))
ZIPMPI_PROCEDURE(status_f082f, STATUS_F082F, Status_f082f, (const int* from, int* to, int* ierror),
                 copy_status(from, to, ierror))
ZIPMPI_PROCEDURE(status_f2f08, STATUS_F2F08, Status_f2f08, (const int* from, int* to, int* ierror),
                 copy_status(from, to, ierror))

void ompi_f_sync_reg_f(void*) {}
ZIPMPI_FORMS(ompi_f_sync_reg_f, f_sync_reg, F_SYNC_REG, F_sync_reg)
int mpi_fortran_buffer_automatic_; // not in this ABI

} // extern "C"
