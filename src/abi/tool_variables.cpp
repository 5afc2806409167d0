// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tool interface: control and performance variables. A handle is the address of the core handle.
#include "abi/handles.hpp"
#include "abi/results.hpp"
#include "abi/tool.hpp"

namespace zipmpi::abi::custom {

namespace tool = core::tool;

namespace {

void put_variable(const tool::Variable& v, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                  MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind) {
    put_tool_text(v.name, name, name_len);
    put_tool_text(v.help, desc, desc_len);
    put_optional(verbosity, code_of(v.verbosity));
    put_optional(bind, code_of(v.binding));
    if (datatype != nullptr) *datatype = handle_of(&core::builtin_type(v.type));
    if (enumtype != nullptr)
        *enumtype = reinterpret_cast<MPI_T_enum>(const_cast<tool::Enumeration*>(v.enumeration));
}

tool::Cvar* cvar_of(MPI_T_cvar_handle handle) { return reinterpret_cast<tool::Cvar*>(handle); }
tool::PvarSession* session_of(MPI_T_pvar_session s) { return reinterpret_cast<tool::PvarSession*>(s); }

tool::Pvar* pvar_of(MPI_T_pvar_handle handle) {
    return handle == MPI_T_PVAR_ALL_HANDLES ? tool::all_handles : reinterpret_cast<tool::Pvar*>(handle);
}

bool find_pvar_class(int code, core::PvarClass& cls) {
    for (const auto& row : values::enum_codes(cls)) {
        if (row.code != code) continue;
        cls = row.value;
        return true;
    }
    return false;
}

} // namespace

ToolErr tool_cvar_get_num(int* num) {
    if (num == nullptr) return null_result("num_cvar");
    *num = tool::cvars();
    return ToolErr::success;
}

ToolErr tool_cvar_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                           MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) {
    tool::Variable v;
    core::CvarScope changes{};
    if (!tool::cvar_info(index, v, changes))
        return tool::set_error(ToolErr::invalid_index,
                               "control variable index %d is out of range: there are %d", index,
                               tool::cvars());
    put_variable(v, name, name_len, verbosity, datatype, enumtype, desc, desc_len, bind);
    put_optional(scope, code_of(changes));
    return ToolErr::success;
}

ToolErr tool_cvar_get_index(const char* name, int* index) {
    if (name == nullptr) return null_result("name");
    if (index == nullptr) return null_result("cvar_index");
    const int found = tool::find_cvar(name);
    if (found < 0) return tool::set_error(ToolErr::invalid_name, "no control variable is named \"%s\"", name);
    *index = found;
    return ToolErr::success;
}

ToolErr tool_cvar_handle_alloc(int index, void*, MPI_T_cvar_handle* handle, int* count) {
    if (handle == nullptr) return null_result("handle");
    tool::Cvar* made = nullptr;
    int elements = 0;
    if (const ToolErr e = tool::open_cvar(index, made, elements); e != ToolErr::success) return e;
    *handle = reinterpret_cast<MPI_T_cvar_handle>(made);
    put_optional(count, elements);
    return ToolErr::success;
}

ToolErr tool_cvar_handle_free(MPI_T_cvar_handle* handle) {
    if (handle == nullptr) return null_result("handle");
    const ToolErr e = tool::close_cvar(cvar_of(*handle));
    if (e == ToolErr::success) *handle = MPI_T_CVAR_HANDLE_NULL;
    return e;
}

ToolErr tool_cvar_read(MPI_T_cvar_handle handle, void* buffer) {
    return buffer != nullptr ? tool::read_cvar(cvar_of(handle), buffer) : null_result("buf");
}

ToolErr tool_cvar_write(MPI_T_cvar_handle handle, const void* buffer) {
    return buffer != nullptr ? tool::write_cvar(cvar_of(handle), buffer) : null_result("buf");
}

ToolErr tool_pvar_get_num(int* num) {
    if (num == nullptr) return null_result("num_pvar");
    *num = tool::pvars();
    return ToolErr::success;
}

ToolErr tool_pvar_get_info(int index, char* name, int* name_len, int* verbosity, int* var_class,
                           MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                           int* readonly, int* continuous, int* atomic) {
    tool::Variable v;
    tool::PvarFlags flags;
    if (!tool::pvar_info(index, v, flags))
        return tool::set_error(ToolErr::invalid_index,
                               "performance variable index %d is out of range: there are %d", index,
                               tool::pvars());
    put_variable(v, name, name_len, verbosity, datatype, enumtype, desc, desc_len, bind);
    put_optional(var_class, code_of(flags.cls));
    put_optional(readonly, flags.read_only);
    put_optional(continuous, flags.continuous);
    put_optional(atomic, flags.atomic);
    return ToolErr::success;
}

ToolErr tool_pvar_get_index(const char* name, int var_class, int* index) {
    if (name == nullptr) return null_result("name");
    if (index == nullptr) return null_result("pvar_index");
    core::PvarClass cls{};
    const int found = find_pvar_class(var_class, cls) ? tool::find_pvar(name, cls) : -1;
    if (found < 0)
        return tool::set_error(ToolErr::invalid_name, "no performance variable of class %d is named \"%s\"",
                               var_class, name);
    *index = found;
    return ToolErr::success;
}

ToolErr tool_pvar_session_create(MPI_T_pvar_session* session) {
    if (session == nullptr) return null_result("session");
    tool::PvarSession* made = nullptr;
    const ToolErr e = tool::open_session(made);
    *session = reinterpret_cast<MPI_T_pvar_session>(made);
    return e;
}

ToolErr tool_pvar_session_free(MPI_T_pvar_session* session) {
    if (session == nullptr) return null_result("session");
    const ToolErr e = tool::close_session(session_of(*session));
    if (e == ToolErr::success) *session = MPI_T_PVAR_SESSION_NULL;
    return e;
}

// The object is passed by the address of its handle, and is significant only if the variable is bound.
ToolErr tool_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object, MPI_T_pvar_handle* handle,
                               int* count) {
    if (handle == nullptr) return null_result("handle");
    tool::Variable v;
    tool::PvarFlags flags;
    const core::Comm* comm = nullptr;
    if (object != nullptr && tool::pvar_info(index, v, flags) && v.binding == core::Binding::comm)
        comm = find<core::Comm>(*static_cast<MPI_Comm*>(object));
    tool::Pvar* made = nullptr;
    int elements = 0;
    const ToolErr e = tool::open_pvar(session_of(session), index, comm, made, elements);
    if (e != ToolErr::success) return e;
    *handle = reinterpret_cast<MPI_T_pvar_handle>(made);
    put_optional(count, elements);
    return ToolErr::success;
}

ToolErr tool_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
    if (handle == nullptr) return null_result("handle");
    const ToolErr e = tool::close_pvar(session_of(session), pvar_of(*handle));
    if (e == ToolErr::success) *handle = MPI_T_PVAR_HANDLE_NULL;
    return e;
}

ToolErr tool_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    return tool::start_pvar(session_of(session), pvar_of(handle));
}

ToolErr tool_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    return tool::stop_pvar(session_of(session), pvar_of(handle));
}

ToolErr tool_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    return tool::reset_pvar(session_of(session), pvar_of(handle));
}

ToolErr tool_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buffer) {
    if (buffer == nullptr) return null_result("buf");
    return tool::read_pvar(session_of(session), pvar_of(handle), buffer);
}

ToolErr tool_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buffer) {
    if (buffer == nullptr) return null_result("buf");
    return tool::read_and_reset_pvar(session_of(session), pvar_of(handle), buffer);
}

ToolErr tool_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buffer) {
    if (buffer == nullptr) return null_result("buf");
    return tool::write_pvar(session_of(session), pvar_of(handle), buffer);
}

} // namespace zipmpi::abi::custom
