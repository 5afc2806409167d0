// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions that MPI 3.0 removed and that have no equal successor, and conversions between statuses of C and
// Fortran, which other ABIs export. A status has the same bytes in both languages.
#include "abi/entry.hpp"
#include "core/api/datatype.hpp"

#include <cstring>

using namespace zipmpi;
using namespace zipmpi::abi;

namespace {

enum class Bound { lower, upper, extent };

int get_bound(MPI_Datatype handle, MPI_Aint* result, Bound bound) noexcept {
    core::Datatype* const type = find<core::Datatype>(handle);
    int64_t lower = 0;
    int64_t extent = 0;
    if (type == nullptr || result == nullptr || core::type_get_extent(*type, lower, extent) != Err::success)
        return abi::raise(0, type == nullptr ? Err::type : Err::arg, nullptr, nullptr);
    *result = bound == Bound::extent ? extent : bound == Bound::lower ? lower : lower + extent;
    return MPI_SUCCESS;
}

int copy_status(const void* from, void* to) noexcept {
    if (from == nullptr || to == nullptr) return abi::raise(0, Err::arg, nullptr, nullptr);
    std::memcpy(to, from, sizeof(MPI_Status));
    return MPI_SUCCESS;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

#define ZIPMPI_WITH_ALIAS(name, parameters, call)                                                            \
    int P##name parameters { return call; }                                                                  \
    int name parameters __attribute__((weak, alias("P" #name)))

ZIPMPI_WITH_ALIAS(MPI_Type_extent, (MPI_Datatype type, MPI_Aint* extent),
                  get_bound(type, extent, Bound::extent));
ZIPMPI_WITH_ALIAS(MPI_Type_lb, (MPI_Datatype type, MPI_Aint* lower), get_bound(type, lower, Bound::lower));
ZIPMPI_WITH_ALIAS(MPI_Type_ub, (MPI_Datatype type, MPI_Aint* upper), get_bound(type, upper, Bound::upper));
ZIPMPI_WITH_ALIAS(MPI_Status_c2f, (const MPI_Status* c, MPI_Fint* f), copy_status(c, f));
ZIPMPI_WITH_ALIAS(MPI_Status_f2c, (const MPI_Fint* f, MPI_Status* c), copy_status(f, c));
ZIPMPI_WITH_ALIAS(MPI_Status_c2f08, (const MPI_Status* c, MPI_F08_status* f08), copy_status(c, f08));
ZIPMPI_WITH_ALIAS(MPI_Status_f082c, (const MPI_F08_status* f08, MPI_Status* c), copy_status(f08, c));
ZIPMPI_WITH_ALIAS(MPI_Status_f082f, (const MPI_F08_status* f08, MPI_Fint* f), copy_status(f08, f));
ZIPMPI_WITH_ALIAS(MPI_Status_f2f08, (const MPI_Fint* f, MPI_F08_status* f08), copy_status(f, f08));

} // extern "C"
#pragma GCC visibility pop
