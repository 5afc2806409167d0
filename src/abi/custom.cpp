// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/custom.hpp"

#include "abi/abi_values.hpp"
#include "abi/errors.hpp"
#include "abi/single_library.hpp"
#include "abi/user_errors.hpp"
#include "binding/identity.hpp"
#include "core/api/coll.hpp"
#include "core/api/datatype.hpp"
#include "core/api/env.hpp"
#include "core/api/p2p.hpp"
#include "core/api/process.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>

namespace zipmpi::abi::custom {
namespace {

Err unknown_code(int code) {
    return fail(Err::arg, "pass a code that an MPI function returned", "%d is not a valid error code", code);
}

bool is_tool_code(int code) {
    for (const values::ToolError& row : values::tool_errors)
        if (row.code == code) return true;
    return false;
}

// Passes a code to a handler. Returns true if the handler is a user function, which the caller must call.
bool apply_handler(const char* function, const core::HandlerAction& action, const core::Comm* comm,
                   int code) {
    switch (action.kind) {
    case core::HandlerAction::fatal:
    case core::HandlerAction::abort:
        core::abort_job(function, with_user_text(any_err_of(code)), comm);
    case core::HandlerAction::call:
        return true;
    case core::HandlerAction::return_error:
        break;
    }
    return false;
}

// The count of MPI_User_function is an int: larger counts take several calls.
void call_narrow(void* function, const void* in, void* inout, int64_t count, core::Datatype& type) {
    MPI_Datatype handle = handle_of(&type);
    int64_t lower = 0;
    int64_t extent = 0;
    static_cast<void>(core::type_get_extent(type, lower, extent));
    auto* from = static_cast<std::byte*>(const_cast<void*>(in));
    auto* to = static_cast<std::byte*>(inout);
    while (count > 0) {
        int n = static_cast<int>(std::min<int64_t>(count, INT_MAX));
        const int64_t step = n * extent;
        count -= n;
        reinterpret_cast<MPI_User_function*>(function)(from, to, &n, &handle);
        from += step;
        to += step;
    }
}

void call_wide(void* function, const void* in, void* inout, int64_t count, core::Datatype& type) {
    MPI_Datatype handle = handle_of(&type);
    MPI_Count n = count;
    reinterpret_cast<MPI_User_function_c*>(function)(const_cast<void*>(in), inout, &n, &handle);
}

} // namespace

Err init(int* argc, char*** argv) {
    const Err err = check_single_library();
    return err == Err::success ? core::init(argc, argv) : err;
}

Err init_thread(int* argc, char*** argv, core::ThreadLevel required, core::ThreadLevel& provided) {
    const Err err = check_single_library();
    return err == Err::success ? core::init_thread(argc, argv, required, provided) : err;
}

Err session_init(core::Info* info, core::Errhandler* errhandler, core::Session*& session) {
    const Err err = check_single_library();
    return err == Err::success ? core::session_init(info, errhandler, session) : err;
}

Err finalize() {
    const Err err = core::finalize();
    if (err == Err::success) reset_predefined_comms();
    return err;
}

Err get_version(int& version, int& subversion) {
    version = MPI_VERSION;
    subversion = MPI_SUBVERSION;
    return Err::success;
}

Err get_library_version(std::string& text) {
    const Err err = core::get_library_version(text);
    text = library_prefix + text + library_suffix;
    return err;
}

Err pcontrol(int /*level*/) { return Err::success; } // no-op: profilers define their own

Err abi_get_version(int& major, int& minor) {
    major = MPI_ABI_VERSION;
    minor = MPI_ABI_SUBVERSION;
    return Err::success;
}

Err error_class(int code, int& error_class) {
    Err err = Err::success;
    if (!err_of(code, err) && !is_tool_code(code) && !is_user_code(code)) return unknown_code(code);
    error_class = is_user_code(code) ? user_error_class(code) : code;
    return Err::success;
}

Err error_string(int code, std::string& text) {
    return error_text(code, text) ? Err::success : unknown_code(code);
}

Err comm_call_errhandler(core::Comm& comm, int code) {
    const core::HandlerAction action = core::handler_of(&comm);
    if (apply_handler("MPI_Comm_call_errhandler", action, &comm, code))
        call_handler(action.user_function, &comm, nullptr, code);
    return Err::success;
}

Err session_call_errhandler(core::Session& session, int code) {
    const core::HandlerAction action = core::handler_of(session);
    if (apply_handler("MPI_Session_call_errhandler", action, nullptr, code))
        call_handler(action.user_function, nullptr, &session, code);
    return Err::success;
}

Err win_call_errhandler(core::Win& win, int code) {
    const core::HandlerAction action = core::handler_of(win);
    if (apply_handler("MPI_Win_call_errhandler", action, nullptr, code))
        call_handler(action.user_function, &win, code);
    return Err::success;
}

Err file_call_errhandler(core::File* file, int code) {
    const core::HandlerAction action = core::handler_of(file);
    if (apply_handler("MPI_File_call_errhandler", action, nullptr, code))
        call_handler(action.user_function, file, code);
    return Err::success;
}

Err buffer_attach(void* memory, int64_t size) {
    return core::buffer_attach(memory, size, MPI_BSEND_OVERHEAD);
}

Err op_create(MPI_User_function* function, bool commutes, core::Op*& op) {
    return core::op_create(reinterpret_cast<void*>(function), call_narrow, commutes, op);
}

Err op_create(MPI_User_function_c* function, bool commutes, core::Op*& op) {
    return core::op_create(reinterpret_cast<void*>(function), call_wide, commutes, op);
}

Err status_get_source(const MPI_Status& status, int& source) {
    source = status.MPI_SOURCE;
    return Err::success;
}

Err status_get_tag(const MPI_Status& status, int& tag) {
    tag = status.MPI_TAG;
    return Err::success;
}

Err status_get_error(const MPI_Status& status, int& error) {
    error = status.MPI_ERROR;
    return Err::success;
}

Err status_set_source(MPI_Status& status, int source) {
    status.MPI_SOURCE = source;
    return Err::success;
}

Err status_set_tag(MPI_Status& status, int tag) {
    status.MPI_TAG = tag;
    return Err::success;
}

Err status_set_error(MPI_Status& status, int error) {
    status.MPI_ERROR = error;
    return Err::success;
}

Err test_cancelled(const MPI_Status& status, bool& cancelled) {
    cancelled = get_status(status).cancelled;
    return Err::success;
}

Err status_set_cancelled(MPI_Status& status, bool cancelled) {
    set_cancelled(status, cancelled);
    return Err::success;
}

Err status_set_elements(MPI_Status& status, core::Datatype& type, int64_t count) {
    set_bytes(status, core::bytes_of_elements(type, count));
    return Err::success;
}

MPI_Aint aint_add(MPI_Aint base, MPI_Aint displacement) noexcept {
    return static_cast<MPI_Aint>(static_cast<uintptr_t>(base) + static_cast<uintptr_t>(displacement));
}

MPI_Aint aint_diff(MPI_Aint a, MPI_Aint b) noexcept {
    return static_cast<MPI_Aint>(static_cast<uintptr_t>(a) - static_cast<uintptr_t>(b));
}

} // namespace zipmpi::abi::custom
