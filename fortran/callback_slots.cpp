// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// C functions that call Fortran procedures where MPI passes no extra state: user-defined operations and error
// handlers.
#include "fortran/callbacks.hpp"
#include "fortran/convert.hpp"

#include <pthread.h>
#include <utility>

namespace zipmpi::fortran {
namespace {

// Distinct procedures per program. A function takes about 100 bytes of code, for each of six types.
constexpr int slot_count = 128;

pthread_mutex_t slots_mutex = PTHREAD_MUTEX_INITIALIZER;

template <class Function>
struct CallbackSlots;

// Parameters are passed unchanged as addresses; only the handle is converted to its Fortran form.
template <class Length>
struct CallbackSlots<void(void*, void*, Length*, MPI_Datatype*)> {
    static inline Procedure* procedures[slot_count];
    template <int slot>
    static void call(void* in, void* inout, Length* length, MPI_Datatype* type) {
        int f_type = f_handle(*type);
        using User = void(void*, void*, Length*, int*);
        reinterpret_cast<User*>(procedures[slot])(in, inout, length, &f_type);
    }
};

template <class Handle>
struct CallbackSlots<void(Handle*, int*, ...)> {
    static inline Procedure* procedures[slot_count];
    template <int slot>
    static void call(Handle* handle, int* code, ...) {
        int f_value = f_handle(*handle);
        using User = void(int*, int*);
        reinterpret_cast<User*>(procedures[slot])(&f_value, code);
    }
};

template <class Function, int... slot>
struct SlotTable {
    static inline Function* const functions[] = {&CallbackSlots<Function>::template call<slot>...};
};
template <class Function, class Sequence>
struct SlotTableFor;
template <class Function, int... slot>
struct SlotTableFor<Function, std::integer_sequence<int, slot...>> : SlotTable<Function, slot...> {};

} // namespace

template <class Function>
Function* slot_of(Procedure* procedure) {
    using Functions = SlotTableFor<Function, std::make_integer_sequence<int, slot_count>>;
    auto& procedures = CallbackSlots<Function>::procedures;
    pthread_mutex_lock(&slots_mutex);
    int slot = 0;
    while (slot < slot_count && procedures[slot] != nullptr && procedures[slot] != procedure) slot++;
    if (slot < slot_count) procedures[slot] = procedure;
    pthread_mutex_unlock(&slots_mutex);
    return slot < slot_count ? Functions::functions[slot] : nullptr;
}

template MPI_User_function* slot_of<MPI_User_function>(Procedure*);
template MPI_User_function_c* slot_of<MPI_User_function_c>(Procedure*);
template MPI_Comm_errhandler_function* slot_of<MPI_Comm_errhandler_function>(Procedure*);
template MPI_File_errhandler_function* slot_of<MPI_File_errhandler_function>(Procedure*);
template MPI_Win_errhandler_function* slot_of<MPI_Win_errhandler_function>(Procedure*);
template MPI_Session_errhandler_function* slot_of<MPI_Session_errhandler_function>(Procedure*);

} // namespace zipmpi::fortran
