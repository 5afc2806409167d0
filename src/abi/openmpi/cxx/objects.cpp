// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Predefined objects of the C++ interface, those that programs of Debian use. They are initialized by the
// dynamic linker, because programs copy them before any code runs.
#include "openmpi/cxx/cxx_object.hpp"

#pragma GCC visibility push(default)

namespace MPI {

#define ZIPMPI_CXX_OBJECT(Class, Handle, name) CxxObject<Handle> name = {functions_of(Class), MPI_##name}
#define ZIPMPI_DATATYPE(name) ZIPMPI_CXX_OBJECT(datatype_functions, MPI_Datatype, name)
ZIPMPI_DATATYPE(INT);
ZIPMPI_DATATYPE(LONG);
ZIPMPI_DATATYPE(UNSIGNED);
ZIPMPI_DATATYPE(UNSIGNED_LONG);
ZIPMPI_DATATYPE(FLOAT);
ZIPMPI_DATATYPE(DOUBLE);
ZIPMPI_DATATYPE(BYTE);
ZIPMPI_DATATYPE(DATATYPE_NULL);
ZIPMPI_CXX_OBJECT(operation_functions, MPI_Op, MAX);
ZIPMPI_CXX_OBJECT(group_functions, MPI_Group, GROUP_EMPTY);
ZIPMPI_CXX_OBJECT(intracomm_functions, MPI_Comm, COMM_WORLD);
ZIPMPI_CXX_OBJECT(null_comm_functions, MPI_Comm, COMM_NULL);
const void* IN_PLACE = MPI_IN_PLACE;

} // namespace MPI

#pragma GCC visibility pop
