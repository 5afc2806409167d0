// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions and predefined handles of the MPI library in this process, found at run time: the interposition
// library has no undefined symbols, because it is also loaded into programs without MPI, such as shells.
#pragma once

#include <mpi.h>

namespace zipmpi::trace {

// Ends the process with a message if the library does not have the symbol.
void* find_symbol(const char* name) noexcept;

template <class Function>
Function find(const char* name) noexcept {
    return reinterpret_cast<Function>(find_symbol(name));
}

// A predefined handle: the address of an object of the library, or a constant.
#ifdef ZIPMPI_HANDLES_ARE_OBJECTS
#define ZIPMPI_PREDEFINED(type, constant, object) static_cast<type>(find_symbol(object))
#else
#define ZIPMPI_PREDEFINED(type, constant, object) constant
#endif
struct Predefined {
    MPI_Comm world = ZIPMPI_PREDEFINED(MPI_Comm, MPI_COMM_WORLD, "ompi_mpi_comm_world");
    MPI_Comm self = ZIPMPI_PREDEFINED(MPI_Comm, MPI_COMM_SELF, "ompi_mpi_comm_self");
    MPI_Comm null_comm = ZIPMPI_PREDEFINED(MPI_Comm, MPI_COMM_NULL, "ompi_mpi_comm_null");
    MPI_Datatype null_datatype = ZIPMPI_PREDEFINED(MPI_Datatype, MPI_DATATYPE_NULL, "ompi_mpi_datatype_null");
    MPI_Datatype byte = ZIPMPI_PREDEFINED(MPI_Datatype, MPI_BYTE, "ompi_mpi_byte");
    MPI_Datatype number = ZIPMPI_PREDEFINED(MPI_Datatype, MPI_DOUBLE, "ompi_mpi_double");
    MPI_Op sum = ZIPMPI_PREDEFINED(MPI_Op, MPI_SUM, "ompi_mpi_op_sum");
    MPI_Op max = ZIPMPI_PREDEFINED(MPI_Op, MPI_MAX, "ompi_mpi_op_max");
    MPI_Info null_info = ZIPMPI_PREDEFINED(MPI_Info, MPI_INFO_NULL, "ompi_mpi_info_null");
    MPI_Errhandler errors_return =
        ZIPMPI_PREDEFINED(MPI_Errhandler, MPI_ERRORS_RETURN, "ompi_mpi_errors_return");
};
#undef ZIPMPI_PREDEFINED
inline const Predefined& predefined() noexcept {
    static const Predefined handles;
    return handles;
}

} // namespace zipmpi::trace
