// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions of the tool interface. Arguments are passed unchanged: most pointers may be null if the result is
// not needed.
#pragma once

#include "abi/mpi_abi.hpp"
#include "core/api/tool.hpp"

#include <cstdint>

namespace zipmpi::abi {

// The code of the ABI; records a failure for MPI_Error_string.
int tool_code(uint32_t function, core::ToolErr result) noexcept;

template <class Call>
int tool_call(uint32_t function, const Call& call) noexcept {
    if (core::tool::in_event_callback()) [[unlikely]]
        return tool_code(function, core::tool::refuse_in_callback());
    const core::tool::ToolLock lock;
    core::ToolErr result = lock.check_initialized();
    if (result == core::ToolErr::success) result = call();
    return tool_code(function, result);
}

// Stores an optional result.
template <class T, class Value>
void put_optional(T* out, Value value) noexcept {
    if (out != nullptr) *out = static_cast<T>(value);
}
// Stores an optional string; omitted if a pointer is null or the length is 0.
void put_tool_text(std::string_view text, char* out, int* length) noexcept;
core::ToolErr null_result(const char* param) noexcept; // for a required result

namespace custom {
using core::ToolErr;

ToolErr tool_init_thread(int required, int* provided);
ToolErr tool_finalize();

ToolErr tool_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len);
ToolErr tool_enum_get_item(MPI_T_enum enumtype, int index, int* value, char* name, int* name_len);

ToolErr tool_cvar_get_num(int* num);
ToolErr tool_cvar_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                           MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope);
ToolErr tool_cvar_get_index(const char* name, int* index);
ToolErr tool_cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle, int* count);
ToolErr tool_cvar_handle_free(MPI_T_cvar_handle* handle);
ToolErr tool_cvar_read(MPI_T_cvar_handle handle, void* buffer);
ToolErr tool_cvar_write(MPI_T_cvar_handle handle, const void* buffer);

ToolErr tool_pvar_get_num(int* num);
ToolErr tool_pvar_get_info(int index, char* name, int* name_len, int* verbosity, int* var_class,
                           MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                           int* readonly, int* continuous, int* atomic);
ToolErr tool_pvar_get_index(const char* name, int var_class, int* index);
ToolErr tool_pvar_session_create(MPI_T_pvar_session* session);
ToolErr tool_pvar_session_free(MPI_T_pvar_session* session);
ToolErr tool_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object, MPI_T_pvar_handle* handle,
                               int* count);
ToolErr tool_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle);
ToolErr tool_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
ToolErr tool_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
ToolErr tool_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buffer);
ToolErr tool_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buffer);
ToolErr tool_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
ToolErr tool_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buffer);

ToolErr tool_category_changed(int* update_number);
ToolErr tool_category_get_num(int* num);
ToolErr tool_category_get_info(int index, char* name, int* name_len, char* desc, int* desc_len,
                               int* num_cvars, int* num_pvars, int* num_categories);
ToolErr tool_category_get_index(const char* name, int* index);
ToolErr tool_category_get_cvars(int index, int length, int* indices);
ToolErr tool_category_get_pvars(int index, int length, int* indices);
ToolErr tool_category_get_categories(int index, int length, int* indices);
ToolErr tool_category_get_num_events(int index, int* num);
ToolErr tool_category_get_events(int index, int length, int* indices);

ToolErr tool_source_get_num(int* num);
ToolErr tool_source_get_info(int index, char* name, int* name_len, char* desc, int* desc_len,
                             MPI_T_source_order* ordering, MPI_Count* ticks_per_second, MPI_Count* max_ticks,
                             MPI_Info* info);
ToolErr tool_source_get_timestamp(int index, MPI_Count* timestamp);

ToolErr tool_event_get_num(int* num);
ToolErr tool_event_get_index(const char* name, int* index);
ToolErr tool_event_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatypes,
                            MPI_Aint* displacements, int* num_elements, MPI_T_enum* enumtype, MPI_Info* info,
                            char* desc, int* desc_len, int* bind);
ToolErr tool_event_handle_alloc(int index, void* object, MPI_Info info,
                                MPI_T_event_registration* registration);
ToolErr tool_event_handle_free(MPI_T_event_registration registration, void* user_data,
                               MPI_T_event_free_cb_function* function);
ToolErr tool_event_handle_get_info(MPI_T_event_registration registration, MPI_Info* info);
ToolErr tool_event_handle_set_info(MPI_T_event_registration registration, MPI_Info info);
ToolErr tool_event_register_callback(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                     MPI_Info info, void* user_data, MPI_T_event_cb_function* function);
ToolErr tool_event_callback_get_info(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                     MPI_Info* info);
ToolErr tool_event_callback_set_info(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                     MPI_Info info);
ToolErr tool_event_set_dropped_handler(MPI_T_event_registration registration,
                                       MPI_T_event_dropped_cb_function* function);
ToolErr tool_event_read(MPI_T_event_instance instance, int element, void* buffer);
ToolErr tool_event_copy(MPI_T_event_instance instance, void* buffer);
ToolErr tool_event_get_timestamp(MPI_T_event_instance instance, MPI_Count* timestamp);
ToolErr tool_event_get_source(MPI_T_event_instance instance, int* source_index);
} // namespace custom
} // namespace zipmpi::abi
