// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// libmpi_cxx.so.40: what the inline functions of the C++ interface in the mpi.h of Open MPI 4 refer to.
// Programs that include this header need the names, even if they use the C interface only. An object of the
// interface consists of the address of its virtual functions and a handle.
#include <mpi.h>

namespace {

template <class Handle>
struct CxxObject {
    const void* virtual_functions;
    Handle handle;
};

using CxxUserFunction = void(const void*, void*, int, const CxxObject<MPI_Datatype>&);

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// MPI::Datatype's, which a program that uses it defines.
extern const void* const datatype_functions[] asm("_ZTVN3MPI8DatatypeE") __attribute__((weak));

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
    constexpr int first_function = 2; // after the offset and the type information
    const void* const functions =
        datatype_functions != nullptr ? datatype_functions + first_function : nullptr;
    const CxxObject<MPI_Datatype> object{functions, *type};
    function(in, inout, *length, object);
}

} // extern "C"
#pragma GCC visibility pop
