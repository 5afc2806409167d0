// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of Fortran procedures whose C counterparts get an extra state, and the predefined procedures
// (MPI_COMM_DUP_FN and others). Fortran passes all arguments by address and the error code last.
#include "fortran/callbacks.hpp"
#include "fortran/convert.hpp"

namespace zipmpi::fortran {
namespace {

struct CallbackState {
    Procedure* procedures[3];
    MPI_Aint state;
};

template <class... Parameters>
int call(Procedure* procedure, Parameters*... parameters) {
    int ierror = MPI_SUCCESS;
    reinterpret_cast<void (*)(Parameters * ..., int*)>(procedure)(parameters..., &ierror);
    return ierror;
}

// Value is INTEGER for MPI-1 procedures, otherwise INTEGER(MPI_ADDRESS_KIND).
template <class Value, class Handle>
int copy_attribute(Handle handle, int keyval, void* extra_state, void* in, void* out, int* flag) {
    auto& record = *static_cast<CallbackState*>(extra_state);
    int f_value = f_handle(handle);
    auto state = static_cast<Value>(record.state);
    auto value_in = static_cast<Value>(reinterpret_cast<MPI_Aint>(in));
    Value value_out = 0;
    const int err = call(record.procedures[0], &f_value, &keyval, &state, &value_in, &value_out, flag);
    record.state = state;
    if (err == MPI_SUCCESS && *flag != 0) {
        *flag = 1; // some compilers use another value for .TRUE.
        *static_cast<MPI_Aint*>(out) = value_out;
    }
    return err;
}

template <class Value, class Handle>
int delete_attribute(Handle handle, int keyval, void* attribute, void* extra_state) {
    auto& record = *static_cast<CallbackState*>(extra_state);
    int f_value = f_handle(handle);
    auto value = static_cast<Value>(reinterpret_cast<MPI_Aint>(attribute));
    auto state = static_cast<Value>(record.state);
    const int err = call(record.procedures[1], &f_value, &keyval, &value, &state);
    record.state = state;
    return err;
}

template <class Count>
int convert_data(int which, void* memory, MPI_Datatype type, Count count, void* file, MPI_Offset position,
                 CallbackState& record) {
    int f_type = f_handle(type);
    return call(record.procedures[which], static_cast<char*>(memory), &f_type, &count,
                static_cast<char*>(file), &position, &record.state);
}

} // namespace

void* make_callback_state(const MPI_Aint* state, Procedure* first, Procedure* second, Procedure* third) {
    return new CallbackState{{first, second, third}, *state};
}

void* make_callback_state(const int* state, Procedure* first, Procedure* second) {
    return new CallbackState{{first, second, nullptr}, *state};
}

int call_MPI_Comm_copy_attr_function(MPI_Comm comm, int keyval, void* state, void* in, void* out, int* flag) {
    return copy_attribute<MPI_Aint>(comm, keyval, state, in, out, flag);
}
int call_MPI_Type_copy_attr_function(MPI_Datatype type, int keyval, void* state, void* in, void* out,
                                     int* flag) {
    return copy_attribute<MPI_Aint>(type, keyval, state, in, out, flag);
}
int call_MPI_Win_copy_attr_function(MPI_Win win, int keyval, void* state, void* in, void* out, int* flag) {
    return copy_attribute<MPI_Aint>(win, keyval, state, in, out, flag);
}
int call_MPI_Copy_function(MPI_Comm comm, int keyval, void* state, void* in, void* out, int* flag) {
    return copy_attribute<int>(comm, keyval, state, in, out, flag);
}
int call_MPI_Comm_delete_attr_function(MPI_Comm comm, int keyval, void* attribute, void* state) {
    return delete_attribute<MPI_Aint>(comm, keyval, attribute, state);
}
int call_MPI_Type_delete_attr_function(MPI_Datatype type, int keyval, void* attribute, void* state) {
    return delete_attribute<MPI_Aint>(type, keyval, attribute, state);
}
int call_MPI_Win_delete_attr_function(MPI_Win win, int keyval, void* attribute, void* state) {
    return delete_attribute<MPI_Aint>(win, keyval, attribute, state);
}
int call_MPI_Delete_function(MPI_Comm comm, int keyval, void* attribute, void* state) {
    return delete_attribute<int>(comm, keyval, attribute, state);
}

int call_MPI_Grequest_query_function(void* extra_state, MPI_Status* status) {
    auto& record = *static_cast<CallbackState*>(extra_state);
    return call(record.procedures[0], &record.state, status);
}
int call_MPI_Grequest_free_function(void* extra_state) {
    auto* const record = static_cast<CallbackState*>(extra_state);
    const int err = call(record->procedures[1], &record->state);
    delete record;
    return err;
}
int call_MPI_Grequest_cancel_function(void* extra_state, int complete) {
    auto& record = *static_cast<CallbackState*>(extra_state);
    return call(record.procedures[2], &record.state, &complete);
}

int call_MPI_Datarep_conversion_function_0(void* memory, MPI_Datatype type, int count, void* file,
                                           MPI_Offset position, void* state) {
    return convert_data(0, memory, type, count, file, position, *static_cast<CallbackState*>(state));
}
int call_MPI_Datarep_conversion_function_1(void* memory, MPI_Datatype type, int count, void* file,
                                           MPI_Offset position, void* state) {
    return convert_data(1, memory, type, count, file, position, *static_cast<CallbackState*>(state));
}
int call_MPI_Datarep_conversion_function_c_0(void* memory, MPI_Datatype type, MPI_Count count, void* file,
                                             MPI_Offset position, void* state) {
    return convert_data(0, memory, type, count, file, position, *static_cast<CallbackState*>(state));
}
int call_MPI_Datarep_conversion_function_c_1(void* memory, MPI_Datatype type, MPI_Count count, void* file,
                                             MPI_Offset position, void* state) {
    return convert_data(1, memory, type, count, file, position, *static_cast<CallbackState*>(state));
}
int call_MPI_Datarep_extent_function(MPI_Datatype type, MPI_Aint* extent, void* extra_state) {
    auto& record = *static_cast<CallbackState*>(extra_state);
    int f_type = f_handle(type);
    return call(record.procedures[2], &f_type, extent, &record.state);
}

} // namespace zipmpi::fortran

using namespace zipmpi::fortran;

// --- predefined procedures, called by Fortran programs or through the functions above
namespace {

template <class Value>
void copy_none(int*, int*, Value*, Value*, Value*, int* flag, int* ierror) {
    *flag = 0;
    *ierror = MPI_SUCCESS;
}

template <class Value>
void copy_value(int*, int*, Value*, Value* in, Value* out, int* flag, int* ierror) {
    *out = *in;
    *flag = 1;
    *ierror = MPI_SUCCESS;
}

template <class Value>
void delete_none(int*, int*, Value*, Value*, int* ierror) {
    *ierror = MPI_SUCCESS;
}

} // namespace

extern "C" {

#define ZIPMPI_ATTRIBUTE_PROCEDURES(object, Value)                                                           \
    void mpi_##object##null_copy_fn_(int* handle, int* keyval, Value* state, Value* in, Value* out,          \
                                     int* flag, int* ierror) {                                               \
        copy_none(handle, keyval, state, in, out, flag, ierror);                                             \
    }                                                                                                        \
    void mpi_##object##dup_fn_(int* handle, int* keyval, Value* state, Value* in, Value* out, int* flag,     \
                               int* ierror) {                                                                \
        copy_value(handle, keyval, state, in, out, flag, ierror);                                            \
    }                                                                                                        \
    void mpi_##object##null_delete_fn_(int* handle, int* keyval, Value* value, Value* state, int* ierror) {  \
        delete_none(handle, keyval, value, state, ierror);                                                   \
    }
ZIPMPI_ATTRIBUTE_PROCEDURES(, int)
ZIPMPI_ATTRIBUTE_PROCEDURES(comm_, MPI_Aint)
ZIPMPI_ATTRIBUTE_PROCEDURES(type_, MPI_Aint)
ZIPMPI_ATTRIBUTE_PROCEDURES(win_, MPI_Aint)
#undef ZIPMPI_ATTRIBUTE_PROCEDURES

// Never called: their addresses mean that no conversion is needed.
void mpi_conversion_fn_null_() {}
void mpi_conversion_fn_null_c_() { mpi_conversion_fn_null_(); }

} // extern "C"

bool zipmpi::fortran::is_null_procedure(Procedure* procedure) {
    return procedure == &mpi_conversion_fn_null_ || procedure == &mpi_conversion_fn_null_c_;
}
