// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Procedures of a Fortran program that MPI calls. Where C passes an extra state on, it is a record of the
// procedures and of the program's own state (remember, adapter). Where C does not, one C function out of a
// fixed number stands for each procedure (slot_of).
//
// Threads: slots are taken under a lock and stay; records are written before they are passed on.
#pragma once

#include <mpi.h>

namespace zipmpi::fortran {

using Procedure = void(); // of any parameters

// The C function to be passed for a procedure; none for MPI_CONVERSION_FN_NULL.
bool is_null_procedure(Procedure* procedure);
template <class Function>
Function* adapter(Procedure* procedure, Function* function) {
    return is_null_procedure(procedure) ? nullptr : function;
}

// The extra state of C: stays until the program ends, except that of a generalized request. Up to three
// procedures, in the order of the parameters.
void* remember(const MPI_Aint* state, Procedure* first, Procedure* second, Procedure* third = nullptr);
void* remember(const int* state, Procedure* first, Procedure* second);

MPI_Comm_copy_attr_function call_MPI_Comm_copy_attr_function;
MPI_Comm_delete_attr_function call_MPI_Comm_delete_attr_function;
MPI_Type_copy_attr_function call_MPI_Type_copy_attr_function;
MPI_Type_delete_attr_function call_MPI_Type_delete_attr_function;
MPI_Win_copy_attr_function call_MPI_Win_copy_attr_function;
MPI_Win_delete_attr_function call_MPI_Win_delete_attr_function;
MPI_Copy_function call_MPI_Copy_function;
MPI_Delete_function call_MPI_Delete_function;
MPI_Grequest_query_function call_MPI_Grequest_query_function;
MPI_Grequest_free_function call_MPI_Grequest_free_function;
MPI_Grequest_cancel_function call_MPI_Grequest_cancel_function;
// of two procedures of one type: for reading and for writing
MPI_Datarep_conversion_function call_MPI_Datarep_conversion_function_0;
MPI_Datarep_conversion_function call_MPI_Datarep_conversion_function_1;
MPI_Datarep_conversion_function_c call_MPI_Datarep_conversion_function_c_0;
MPI_Datarep_conversion_function_c call_MPI_Datarep_conversion_function_c_1;
MPI_Datarep_extent_function call_MPI_Datarep_extent_function;

// A C function that calls this procedure, the same for the same procedure; a null pointer when all are in
// use. One function type may stand for several MPI types (those of windows and files differ in the handle
// only).
template <class Function>
Function* slot_of(Procedure* procedure);
extern template MPI_User_function* slot_of<MPI_User_function>(Procedure*);
extern template MPI_User_function_c* slot_of<MPI_User_function_c>(Procedure*);
extern template MPI_Comm_errhandler_function* slot_of<MPI_Comm_errhandler_function>(Procedure*);
extern template MPI_File_errhandler_function* slot_of<MPI_File_errhandler_function>(Procedure*);
extern template MPI_Win_errhandler_function* slot_of<MPI_Win_errhandler_function>(Procedure*);
extern template MPI_Session_errhandler_function* slot_of<MPI_Session_errhandler_function>(Procedure*);

} // namespace zipmpi::fortran
