// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions and variables that only the ABI of Open MPI has: predefined attribute callbacks, and the
// variables by whose addresses Fortran passes special values. A Fortran program defines those itself (COMMON
// blocks), and the dynamic linker then takes its definition for all.
#include "abi/custom.hpp"
#include "core/api/coll.hpp"

using namespace zipmpi;
using namespace zipmpi::abi;

namespace {

// An operation of C++: the function of libmpi_cxx, which gets the user's as one more argument.
struct CxxOperation {
    void (*call)(const void*, void*, int*, MPI_Datatype*, MPI_User_function*);
    MPI_User_function* function;
};

void call_cxx(void* record, const void* in, void* inout, int64_t count, core::Datatype& type) {
    const auto& op = *static_cast<CxxOperation*>(record);
    auto n = static_cast<int>(count);
    MPI_Datatype handle = handle_of(&type);
    op.call(in, inout, &n, &handle, op.function);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// The record lives as long as the process: the operation may be in use after it was freed.
void ompi_op_set_cxx_callback(MPI_Op handle, MPI_User_function* function) {
    core::Op* const op = find<core::Op>(handle);
    if (op == nullptr) return;
    auto* const record = new CxxOperation{
        reinterpret_cast<decltype(CxxOperation::call)>(core::user_function_of(*op)), function};
    core::set_user_function(*op, record, call_cxx);
}

int mpi_fortran_bottom_;
int mpi_fortran_in_place_;
int mpi_fortran_unweighted_;
int mpi_fortran_weights_empty_;
int mpi_fortran_errcodes_ignore_;
int mpi_fortran_status_ignore_[2];
int mpi_fortran_statuses_ignore_[2];
char mpi_fortran_argv_null_;
char mpi_fortran_argvs_null_;
MPI_Fint* MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_;
MPI_Fint* MPI_F_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;

// Declared by Open MPI 5. All keys are hints, and none is known.
int PMPI_Session_set_info(MPI_Session session, MPI_Info info) {
    if (find<core::Session>(session) == nullptr) return MPI_ERR_SESSION;
    return find<core::Info>(info) != nullptr ? MPI_SUCCESS : MPI_ERR_INFO;
}
int MPI_Session_set_info(MPI_Session, MPI_Info) __attribute__((weak, alias("PMPI_Session_set_info")));

#define ZIPMPI_ATTRIBUTE_CALLBACKS(prefix, Handle)                                                           \
    int OMPI_C_MPI_##prefix##NULL_COPY_FN(Handle, int, void*, void*, void*, int* flag) {                     \
        *flag = 0;                                                                                           \
        return MPI_SUCCESS;                                                                                  \
    }                                                                                                        \
    int OMPI_C_MPI_##prefix##DUP_FN(Handle, int, void*, void* in, void* out, int* flag) {                    \
        *flag = 1;                                                                                           \
        *static_cast<void**>(out) = in;                                                                      \
        return MPI_SUCCESS;                                                                                  \
    }                                                                                                        \
    int OMPI_C_MPI_##prefix##NULL_DELETE_FN(Handle, int, void*, void*) { return MPI_SUCCESS; }
ZIPMPI_ATTRIBUTE_CALLBACKS(, MPI_Comm)
ZIPMPI_ATTRIBUTE_CALLBACKS(COMM_, MPI_Comm)
ZIPMPI_ATTRIBUTE_CALLBACKS(TYPE_, MPI_Datatype)
ZIPMPI_ATTRIBUTE_CALLBACKS(WIN_, MPI_Win)

} // extern "C"
#pragma GCC visibility pop
