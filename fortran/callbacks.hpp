// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fortran procedures that MPI calls. If the C callback has an extra state, that is a record of the procedures
// and the user's state (make_callback_state, adapter). Otherwise each procedure gets one of a fixed number of
// C functions (slot_of).
//
// Threads: slots are allocated under a lock and never freed; records are written before they are passed to
// MPI.
#pragma once

#include <mpi.h>

namespace zipmpi::fortran {

using Procedure = void(); // of any parameters

// The C function to pass for a procedure; none for MPI_CONVERSION_FN_NULL.
bool is_null_procedure(Procedure* procedure);
template <class Function>
Function* adapter(Procedure* procedure, Function* function) {
    return is_null_procedure(procedure) ? nullptr : function;
}

// The extra state for C: exists until the process exits, except that of a generalized request. Up to three
// procedures, in parameter order.
void* make_callback_state(const MPI_Aint* state, Procedure* first, Procedure* second,
                          Procedure* third = nullptr);
void* make_callback_state(const int* state, Procedure* first, Procedure* second);

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
// for two procedures of one type: read and write conversion
MPI_Datarep_conversion_function call_MPI_Datarep_conversion_function_0;
MPI_Datarep_conversion_function call_MPI_Datarep_conversion_function_1;
MPI_Datarep_conversion_function_c call_MPI_Datarep_conversion_function_c_0;
MPI_Datarep_conversion_function_c call_MPI_Datarep_conversion_function_c_1;
MPI_Datarep_extent_function call_MPI_Datarep_extent_function;

// A C function that calls this procedure, always the same one for a procedure; null if all slots are in use.
// One function type may serve several MPI types (those of windows and files differ only in the handle).
template <class Function>
Function* slot_of(Procedure* procedure);
extern template MPI_User_function* slot_of<MPI_User_function>(Procedure*);
extern template MPI_User_function_c* slot_of<MPI_User_function_c>(Procedure*);
extern template MPI_Comm_errhandler_function* slot_of<MPI_Comm_errhandler_function>(Procedure*);
extern template MPI_File_errhandler_function* slot_of<MPI_File_errhandler_function>(Procedure*);
extern template MPI_Win_errhandler_function* slot_of<MPI_Win_errhandler_function>(Procedure*);
extern template MPI_Session_errhandler_function* slot_of<MPI_Session_errhandler_function>(Procedure*);

} // namespace zipmpi::fortran
