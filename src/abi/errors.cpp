// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/errors.hpp"

#include "abi/abi_values.hpp"
#include "abi/handles.hpp"
#include "abi/user_errors.hpp"
#include "binding/callback_calls.hpp"
#include "core/errhandler/error_comm.hpp"
#include "names/function_table.hpp"

namespace zipmpi::abi {
namespace {

struct LastError {
    const char* function = nullptr;
    int code = MPI_SUCCESS;
};
thread_local LastError last;

// Returns the code that the call returns: the handler may change it.
template <class Function, class T>
int call_user_handler(void* user_function, T* object, int code) noexcept {
    auto handle = handle_of(object);
    call_error_handler(reinterpret_cast<Function*>(user_function), &handle, &code);
    return code;
}

// Executes the built-in action of a handler. Returns the user function to call, or null.
void* apply_handler(uint32_t function, Err err, const core::HandlerAction& action,
                    const core::Comm* comm) noexcept {
    record_last_error(function, code_of(err));
    switch (action.kind) {
    case core::HandlerAction::fatal:
    case core::HandlerAction::abort:
        core::abort_job(last.function, with_user_text(err), comm);
    case core::HandlerAction::call:
        return action.user_function;
    case core::HandlerAction::return_error:
        break;
    }
    return nullptr;
}

// For an object that does not exist: not created, or already freed.
template <class Function, class T>
int raise_without_object(uint32_t function, Err err, const core::HandlerAction& action, T* none) noexcept {
    if (void* const f = apply_handler(function, err, action, nullptr); f != nullptr)
        return call_user_handler<Function>(f, none, code_of(err));
    return code_of(err);
}

const values::ToolError* tool_error(int code) noexcept {
    for (const values::ToolError& row : values::tool_errors)
        if (row.code == code) return &row;
    return nullptr;
}

} // namespace

int code_of(Err err) noexcept {
    if (is_user_error(err)) return user_code(err);
    for (const values::ErrorCode& row : values::error_codes)
        if (row.err == err) return row.code;
    return MPI_ERR_UNKNOWN;
}

bool err_of(int code, Err& err) noexcept {
    for (const values::ErrorCode& row : values::error_codes) {
        if (row.code != code) continue;
        err = row.err;
        return true;
    }
    return false;
}

Err any_err_of(int code) noexcept {
    Err err = Err::success;
    return err_of(code, err) ? err : user_error(code);
}

Err with_user_text(Err err) noexcept {
    if (!is_user_error(err)) return err;
    const int code = user_code(err);
    const std::string text = user_error_text(code);
    return fail(err, "see the documentation of the application for this code", "error code %d%s%s", code,
                text.empty() ? "" : ": ", text.empty() ? " of the application" : text.c_str());
}

int record_last_error(uint32_t function, int code) noexcept {
    last = {names::function(function).name, code};
    return code;
}

int call_handler(void* user_function, const core::Comm* comm, const core::Session* session,
                 int code) noexcept {
    if (session != nullptr)
        return call_user_handler<MPI_Session_errhandler_function>(user_function,
                                                                  const_cast<core::Session*>(session), code);
    core::Comm* const owner = const_cast<core::Comm*>(comm);
    return call_user_handler<MPI_Comm_errhandler_function>(
        user_function, owner != nullptr ? owner : core::default_error_comm(), code);
}

int raise(uint32_t function, Err err, const core::Comm* comm, const core::Session* session) noexcept {
    const core::ErrorCommGuard error_comm;
    comm = error_comm.resolve(comm);
    const core::HandlerAction action =
        session != nullptr ? core::handler_of(*session) : core::handler_of(comm);
    void* const f = apply_handler(function, err, action, comm);
    return f != nullptr ? call_handler(f, comm, session, code_of(err)) : code_of(err);
}

int raise_on(uint32_t function, Err err, core::Win& win) noexcept {
    if (void* const f = apply_handler(function, err, core::handler_of(win), nullptr); f != nullptr)
        return call_handler(f, &win, code_of(err));
    return code_of(err);
}

int raise_on(uint32_t function, Err err, core::File* file) noexcept {
    if (void* const f = apply_handler(function, err, core::handler_of(file), nullptr); f != nullptr)
        return call_handler(f, file, code_of(err));
    return code_of(err);
}

int raise_with(uint32_t function, Err err, const core::Errhandler& handler, core::Comm* made) noexcept {
    return raise_without_object<MPI_Comm_errhandler_function>(function, err, core::action_of(handler), made);
}

int raise_with(uint32_t function, Err err, const core::Errhandler& handler, core::Session* made) noexcept {
    return raise_without_object<MPI_Session_errhandler_function>(function, err, core::action_of(handler),
                                                                 made);
}

int raise_freed(uint32_t function, Err err, const core::HandlerAction& action, core::Comm* freed) noexcept {
    return raise_without_object<MPI_Comm_errhandler_function>(function, err, action, freed);
}

int raise_freed(uint32_t function, Err err, const core::HandlerAction& action,
                core::Session* freed) noexcept {
    return raise_without_object<MPI_Session_errhandler_function>(function, err, action, freed);
}

int raise_freed(uint32_t function, Err err, const core::HandlerAction& action, core::Win* freed) noexcept {
    return raise_without_object<MPI_Win_errhandler_function>(function, err, action, freed);
}

int raise_freed(uint32_t function, Err err, const core::HandlerAction& action, core::File* freed) noexcept {
    return raise_without_object<MPI_File_errhandler_function>(function, err, action, freed);
}

void abort_outside_mpi(uint32_t function) noexcept {
    const char* const name = names::function(function).name;
    const bool early = core::phase() == core::Phase::before_init;
    const Err err = early ? fail(Err::other, "call MPI_Init or MPI_Init_thread first",
                                 "%s was called before MPI_Init", name)
                          : fail(Err::other, "move the call before MPI_Finalize",
                                 "%s was called after MPI_Finalize", name);
    core::abort_job(name, err, nullptr);
}

int call_handler(void* user_function, core::Win* win, int code) noexcept {
    return call_user_handler<MPI_Win_errhandler_function>(user_function, win, code);
}

int call_handler(void* user_function, core::File* file, int code) noexcept {
    return call_user_handler<MPI_File_errhandler_function>(user_function, file, code);
}

bool error_text(int code, std::string& text) {
    if (is_user_code(code)) {
        text = user_error_text(code); // the user's text only
        return true;
    }
    const bool recent = last.function != nullptr && last.code == code && code != MPI_SUCCESS;
    text = recent ? std::string(last.function) + ": " : std::string();
    Err err = Err::success;
    if (err_of(code, err)) {
        text += core::describe(err);
        return true;
    }
    const values::ToolError* const tool = tool_error(code);
    if (tool == nullptr) return false;
    text += std::string(tool->name) + ": " + tool->text;
    if (recent) text += std::string("; ") + last_error().why;
    return true;
}

} // namespace zipmpi::abi
