// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// libmpi_cxx.so.40: what the inline functions of the C++ interface in the mpi.h of Open MPI 4 refer to.
// Programs that include this header need the names, even if they use the C interface only.
#include "openmpi/cxx/cxx_object.hpp"

namespace {
using CxxUserFunction = void(const void*, void*, int, const CxxObject<MPI_Datatype>&);
} // namespace

#pragma GCC visibility push(default)
extern "C" {

void free_window(CxxObject<MPI_Win>*) asm("_ZN3MPI3Win4FreeEv");
void free_datatype(CxxObject<MPI_Datatype>*) asm("_ZN3MPI8Datatype4FreeEv");
void construct_communicator(CxxObject<MPI_Comm>*) asm("_ZN3MPI4CommC2Ev");
void initialize_intercepts() asm("_ZN3MPI20InitializeInterceptsEv");
void ompi_mpi_cxx_op_intercept(void*, void*, int*, MPI_Datatype*, CxxUserFunction*);

void free_window(CxxObject<MPI_Win>* window) { MPI_Win_free(&window->handle); }
void free_datatype(CxxObject<MPI_Datatype>* type) { MPI_Type_free(&type->handle); }
// The constructor of the derived class sets the functions.
void construct_communicator(CxxObject<MPI_Comm>* comm) { comm->handle = MPI_COMM_NULL; }
void initialize_intercepts() {}

void ompi_mpi_cxx_op_intercept(void* in, void* inout, int* length, MPI_Datatype* type,
                               CxxUserFunction* function) {
    const CxxObject<MPI_Datatype> object{functions_of(datatype_functions), *type};
    function(in, inout, *length, object);
}

} // extern "C"
#pragma GCC visibility pop
