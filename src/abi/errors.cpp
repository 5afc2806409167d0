// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/errors.hpp"

#include "abi/abi_values.hpp"
#include "abi/added_errors.hpp"
#include "abi/handles.hpp"
#include "core/errhandler/kept_comm.hpp"
#include "names/function_table.hpp"

namespace zipmpi::abi {
namespace {

struct Last {
    const char* function = nullptr;
    int code = MPI_SUCCESS;
};
thread_local Last last;

// Gives what the call returns: the handler may change it.
template <class Function, class T>
int call_with(void* face_function, T* object, int code) noexcept {
    auto handle = handle_of(object);
    reinterpret_cast<Function*>(face_function)(&handle, &code);
    return code;
}

// Acts on an error as a handler wants it. The function of the program that is to be called, or null.
void* act(uint32_t function, Err err, const core::HandlerAction& action, const core::Comm* comm) noexcept {
    remember(function, code_of(err));
    switch (action.kind) {
    case core::HandlerAction::fatal:
    case core::HandlerAction::abort:
        core::die(last.function, explained(err), comm);
    case core::HandlerAction::call:
        return action.face_function;
    case core::HandlerAction::give_back:
        break;
    }
    return nullptr;
}

// For an object that is not there: not made, or freed already.
template <class Function, class T>
int raise_for(uint32_t function, Err err, const core::HandlerAction& action, T* none) noexcept {
    if (void* const f = act(function, err, action, nullptr); f != nullptr)
        return call_with<Function>(f, none, code_of(err));
    return code_of(err);
}

const values::ToolError* tool_error(int code) noexcept {
    for (const values::ToolError& row : values::tool_errors)
        if (row.code == code) return &row;
    return nullptr;
}

} // namespace

int code_of(Err err) noexcept {
    if (is_foreign(err)) return foreign_code(err);
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
    return err_of(code, err) ? err : foreign_error(code);
}

Err explained(Err err) noexcept {
    if (!is_foreign(err)) return err;
    const int code = foreign_code(err);
    const std::string text = text_of_added(code);
    return fail(err, "see what the program means by this code", "error code %d%s%s", code,
                text.empty() ? "" : ": ", text.empty() ? " of the program" : text.c_str());
}

int remember(uint32_t function, int code) noexcept {
    last = {names::function(function).name, code};
    return code;
}

int call_handler(void* face_function, const core::Comm* comm, const core::Session* session,
                 int code) noexcept {
    if (session != nullptr)
        return call_with<MPI_Session_errhandler_function>(face_function, const_cast<core::Session*>(session),
                                                          code);
    core::Comm* const known = const_cast<core::Comm*>(comm);
    return call_with<MPI_Comm_errhandler_function>(
        face_function, known != nullptr ? known : core::comm_of_stray_errors(), code);
}

int raise(uint32_t function, Err err, const core::Comm* comm, const core::Session* session) noexcept {
    const core::KeptComm kept;
    comm = kept.of_error(comm);
    const core::HandlerAction action =
        session != nullptr ? core::handler_of(*session) : core::handler_of(comm);
    void* const f = act(function, err, action, comm);
    return f != nullptr ? call_handler(f, comm, session, code_of(err)) : code_of(err);
}

int raise_on(uint32_t function, Err err, core::Win& win) noexcept {
    if (void* const f = act(function, err, core::handler_of(win), nullptr); f != nullptr)
        return call_handler(f, &win, code_of(err));
    return code_of(err);
}

int raise_on(uint32_t function, Err err, core::File* file) noexcept {
    if (void* const f = act(function, err, core::handler_of(file), nullptr); f != nullptr)
        return call_handler(f, file, code_of(err));
    return code_of(err);
}

int raise_with(uint32_t function, Err err, const core::Errhandler& handler, core::Comm* made) noexcept {
    return raise_for<MPI_Comm_errhandler_function>(function, err, core::action_of(handler), made);
}

int raise_with(uint32_t function, Err err, const core::Errhandler& handler, core::Session* made) noexcept {
    return raise_for<MPI_Session_errhandler_function>(function, err, core::action_of(handler), made);
}

int raise_freed(uint32_t function, Err err, const core::HandlerAction& action, core::Comm* freed) noexcept {
    return raise_for<MPI_Comm_errhandler_function>(function, err, action, freed);
}

int raise_freed(uint32_t function, Err err, const core::HandlerAction& action,
                core::Session* freed) noexcept {
    return raise_for<MPI_Session_errhandler_function>(function, err, action, freed);
}

int raise_freed(uint32_t function, Err err, const core::HandlerAction& action, core::Win* freed) noexcept {
    return raise_for<MPI_Win_errhandler_function>(function, err, action, freed);
}

int raise_freed(uint32_t function, Err err, const core::HandlerAction& action, core::File* freed) noexcept {
    return raise_for<MPI_File_errhandler_function>(function, err, action, freed);
}

void die_outside(uint32_t function) noexcept {
    const char* const name = names::function(function).name;
    const bool early = core::phase() == core::Phase::before_init;
    const Err err = early ? fail(Err::other, "call MPI_Init or MPI_Init_thread first",
                                 "%s was called before MPI_Init", name)
                          : fail(Err::other, "move the call before MPI_Finalize",
                                 "%s was called after MPI_Finalize", name);
    core::die(name, err, nullptr);
}

int call_handler(void* face_function, core::Win* win, int code) noexcept {
    return call_with<MPI_Win_errhandler_function>(face_function, win, code);
}

int call_handler(void* face_function, core::File* file, int code) noexcept {
    return call_with<MPI_File_errhandler_function>(face_function, file, code);
}

bool error_text(int code, std::string& text) {
    if (is_added_code(code)) {
        text = text_of_added(code); // the program's words, without any of ours
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
